#include "tuner/collect/watched_model.h"

#include <algorithm>

#include "engine/passes/fold_constants.h"
#include "tuner/analytic_choice.h"

namespace enginery {
namespace {

// Whether each value hangs on an input of the graph.
std::vector<bool> runtime_values(const Graph& graph) {
  std::vector<bool> out(static_cast<size_t>(graph.value_count()), false);
  for (const ValueId v : graph.inputs()) out[static_cast<size_t>(v)] = true;
  for (const NodeId id : graph.topological_order()) {
    const Node& node = graph.node(id);
    const bool any = std::ranges::any_of(
        node.inputs, [&](ValueId v) { return v != kNoValue && out[static_cast<size_t>(v)]; });
    for (const ValueId v : node.outputs) out[static_cast<size_t>(v)] = any;
  }
  return out;
}

// Makes every floating-point value that the graph computes at run time an output.
Status watch_all(Graph& graph) {
  const std::vector<bool> at_run_time = runtime_values(graph);
  std::vector<ValueId> wanted;
  int64_t bytes = 0;
  for (const NodeId id : graph.needed_order()) {
    for (const ValueId v : graph.node(id).outputs) {
      const TensorType& type = graph.value(v).type;
      if (!at_run_time[static_cast<size_t>(v)] || !is_floating(type.type)) continue;
      if (!graph.is_output(v)) wanted.push_back(v);
      bytes += bytes_of(type);
    }
  }
  if (const int64_t mib = bytes >> 20; mib > graph.limits.arena_mib) {
    return Error{ErrorCode::unsupported, "calibrate: the model's values take " +
                                             std::to_string(mib) + " MiB together, more than " +
                                             std::to_string(graph.limits.arena_mib) +
                                             "; calibrate with a smaller batch (--shapes)"};
  }
  for (const ValueId v : wanted) CHECK_OK(graph.mark_output(v));
  return {};
}

// Leaves transforms (Winograd's) out where there is another tactic: their rounding error is larger
// and depends on a value's neighbours.
void keep_direct_tactics(Network& network) {
  const auto is_direct = [](const Tactic& t) { return t.algorithm == Algorithm::direct; };
  for (NetworkNode& node : network.nodes) {
    if (std::ranges::any_of(node.tactics, is_direct))
      std::erase_if(node.tactics, [&](const Tactic& t) { return !is_direct(t); });
  }
}

}  // namespace

Result<std::string> calibration_sku() {
  std::string best;
  for (const LocalSku& sku : local_skus()) {
    if (sku.kind != DeviceKind::cpu) continue;
    if (best.empty() || sku.name == "cpu-avx2") best = sku.name;
  }
  if (best.empty())
    return Error{ErrorCode::incompatible, "calibrate: this machine has no known CPU type"};
  return best;
}

Result<std::unique_ptr<WatchedModel>> WatchedModel::make(const Graph& imported,
                                                         const WatchOptions& options) {
  std::string sku = options.sku;
  if (sku.empty()) {
    TRY(sku, calibration_sku());
  }
  Graph graph = imported;
  TRY(const int folded, fold_constants(graph));
  (void)folded;
  if (!options.outputs_only) CHECK_OK(watch_all(graph));
  auto out = std::make_unique<WatchedModel>(MakeKey());
  // Tactics differ in the last bits, and a calibration is one by its bits: they are chosen as for
  // one thread, however many run them.
  DeviceOptions device_options;
  device_options.threads = 1;
  TRY(const auto single_thread, open_device(sku, device_options));
  TRY(const TacticSources choosing, make_tactic_sources(*single_thread, {}));
  TRY(Network network, lower(graph, choosing, {Precision::fp32}));
  keep_direct_tactics(network);
  TRY(const TacticSelection selection, analytic_choice(network, choosing));
  device_options.threads = options.threads;
  TRY(out->device_, open_device(sku, device_options));
  TRY(out->sources_, make_tactic_sources(*out->device_, {}));
  TRY(Plan plan, make_plan(network, selection));
  TRY(auto program, Program::make(std::move(plan), *out->device_, out->sources_));
  TRY(out->execution_, Execution::make(program));
  out->name_values(graph);
  return out;
}

void WatchedModel::name_values(const Graph& graph) {
  for (const ValueId v : graph.inputs()) {
    input_names_.push_back(graph.value(v).name);
    watched_ += is_floating(graph.value(v).type.type);
  }
  const std::vector<bool> at_run_time = runtime_values(graph);
  std::map<ValueId, size_t> outputs;
  for (const ValueId v : graph.outputs()) {
    const Value& value = graph.value(v);
    outputs.emplace(v, outputs_.size());
    outputs_.emplace_back(value.type.type, value.type.dims);
    output_names_.push_back(value.name);
  }
  for (const NodeId id : graph.needed_order()) {
    for (const ValueId v : graph.node(id).outputs) {
      const bool wanted = graph.is_output(v) && at_run_time[static_cast<size_t>(v)] &&
                          is_floating(graph.value(v).type.type);
      if (wanted) shown_.push_back(outputs.at(v));
    }
  }
  watched_ += shown_.size();
}

Result<std::vector<WatchedModel::Seen>> WatchedModel::run(
    const std::map<std::string, Tensor>& inputs) {
  std::vector<const void*> in;
  std::vector<void*> to;
  std::vector<Seen> seen;
  for (const std::string& name : input_names_) {
    const auto given = inputs.find(name);
    if (given == inputs.end())
      return Error{ErrorCode::invalid_argument, "no value for input '" + name + "'"};
    in.push_back(given->second.raw());
    if (is_floating(given->second.type())) seen.push_back({name, given->second});
  }
  for (Tensor& tensor : outputs_) to.push_back(tensor.mutable_bytes());
  CHECK_OK(execution_->run(in, to));
  for (const size_t i : shown_) seen.push_back({output_names_[i], outputs_[i]});
  return seen;
}

}  // namespace enginery
