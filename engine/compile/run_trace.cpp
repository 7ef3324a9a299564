#include "engine/compile/run_trace.h"

#include <cstring>
#include <random>
#include <tuple>

#include "engine/graph/run_graph.h"
#include "engine/runtime/execution.h"

namespace enginery {
namespace {

constexpr int64_t kSamples = 4096;

// The elements at the places that are sampled.
Tensor sampled(const Tensor& tensor) {
  Tensor out(tensor.type(), {kSamples});
  const auto element = static_cast<size_t>(element_bytes(tensor.type()));
  const auto* from = static_cast<const std::byte*>(tensor.raw());
  auto* to = static_cast<std::byte*>(out.mutable_bytes());
  const auto count = static_cast<uint64_t>(tensor.size());
  std::mt19937_64 random(count);
  for (int64_t i = 0; i < kSamples; ++i, to += element)
    std::memcpy(to, from + random() % count * element, element);
  return out;
}

std::vector<double> samples_of(const Tensor& tensor) {
  const Tensor few = tensor.size() <= kSamples ? tensor : sampled(tensor);
  const Tensor wide = convert(few, DataType::float64);
  const auto elements = wide.data<double>();
  return {elements.begin(), elements.end()};
}

// The indices of a layer's values, without those that are absent.
template <typename Index>
std::vector<size_t> present(const std::vector<Index>& values) {
  std::vector<size_t> out;
  for (const Index v : values) {
    if (v >= 0) out.push_back(static_cast<size_t>(v));
  }
  return out;
}

// For each tensor the first one of the same value in the same place: formats that place the
// elements alike are tensors of their own, which no step makes.
std::vector<int> first_alike(const Plan& plan) {
  std::map<std::tuple<std::string, int, int64_t>, int> first;
  std::vector<int> out;
  for (const PlanTensor& t : plan.tensors)
    out.push_back(first.try_emplace({t.name, t.storage, t.offset}, std::ssize(out)).first->second);
  return out;
}

// A plan's tensors as they are met in a run step by step.
class PlanTrace {
 public:
  explicit PlanTrace(Execution& execution)
      : execution_(execution), first_alike_(first_alike(execution.plan())) {
    const Plan& plan = execution.plan();
    for (const PlanTensor& tensor : plan.tensors)
      trace.values.push_back({tensor.name, tensor.type, {}, false});
    for (const PlanStep& step : plan.steps) {
      const std::string op = is_reformat(step.problem) ? "reformat" : operator_names(step.problem);
      trace.layers.push_back({step.name, op, values_of(step.inputs), values_of(step.outputs)});
      for (const size_t t : trace.layers.back().outputs) trace.values[t].computed = true;
    }
    trace.outputs = values_of(plan.outputs);
  }

  Status around(size_t index, const Arguments& arguments, const std::function<Status()>& launch) {
    const PlanStep& step = execution_.plan().steps[index];
    // Before the launch: an output may take over an input's memory.
    CHECK_OK(see(step.inputs, arguments.inputs));
    if (const Status done = launch(); !done.ok())
      return done.error().within("layer '" + step.name + "'");
    return see(step.outputs, arguments.outputs);
  }

  void see_output(size_t tensor, const Tensor& held) {
    if (trace.values[tensor].samples.empty()) trace.values[tensor].samples = samples_of(held);
  }

  RunTrace trace;

 private:
  // Indices of the trace's values for those of the plan's tensors.
  std::vector<size_t> values_of(std::vector<int> tensors) const {
    for (int& t : tensors) t = t < 0 ? t : first_alike_[static_cast<size_t>(t)];
    return present(tensors);
  }

  template <typename Addresses>
  Status see(const std::vector<int>& tensors, const Addresses& addresses) {
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (tensors[i] < 0) continue;
      const auto at = static_cast<size_t>(tensors[i]);
      TracedValue& value = trace.values[static_cast<size_t>(first_alike_[at])];
      if (!value.samples.empty()) continue;
      TRY(const Tensor held,
          execution_.read(addresses[i], value.type.dims, execution_.plan().tensors[at].format));
      value.samples = samples_of(held);
    }
    return {};
  }

  Execution& execution_;
  const std::vector<int> first_alike_;  // parallel to the plan's tensors
};

}  // namespace

bool TracedValue::is_seen() const {
  return !samples.empty() || (is_static(type.dims) && volume(type.dims) == 0);
}

bool are_alike(const TracedValue& a, const TracedValue& b) {
  const DataType x = a.type.type, y = b.type.type;
  return a.type.dims == b.type.dims && (x == y || (is_floating(x) && is_floating(y)));
}

Result<RunTrace> trace_graph(const Graph& graph, const std::vector<Tensor>& inputs) {
  RunTrace out;
  for (ValueId v = 0; v < graph.value_count(); ++v) {
    const Value& value = graph.value(v);
    out.values.push_back({value.name, value.type, {}, value.producer != kNoNode});
    if (!value.constant) continue;
    out.values.back().samples = samples_of(*value.constant);
    out.values.back().constant = true;
  }
  const auto keep = [&](ValueId v, const Tensor& tensor) {
    TracedValue& value = out.values[static_cast<size_t>(v)];
    value.type = tensor.tensor_type();
    value.samples = samples_of(tensor);
  };
  std::map<std::string, Tensor> by_name;
  for (size_t i = 0; i < inputs.size(); ++i) {
    by_name.emplace(graph.value(graph.inputs()[i]).name, inputs[i]);
    keep(graph.inputs()[i], inputs[i]);
  }
  CHECK_OK(run_graph(graph, by_name, keep));
  for (const NodeId id : graph.topological_order()) {
    const Node& node = graph.node(id);
    out.layers.push_back(
        {node.name, std::string(op_name(node.op)), present(node.inputs), present(node.outputs)});
  }
  out.outputs = present(graph.outputs());
  return out;
}

Result<RunTrace> trace_engine(Plan plan, const Target& target, const std::vector<Tensor>& inputs) {
  TRY(const auto program, Program::make(std::move(plan), *target.device, target.sources));
  TRY(const auto execution, Execution::make(program));
  PlanTrace trace(*execution);
  std::vector<const void*> in;
  for (const Tensor& t : inputs) in.push_back(t.raw());
  std::vector<Tensor> outputs;
  for (const size_t t : trace.trace.outputs) {
    const TensorType& type = trace.trace.values[t].type;
    outputs.emplace_back(type.type, type.dims);
  }
  std::vector<void*> addresses;
  for (Tensor& t : outputs) addresses.push_back(t.mutable_bytes());
  CHECK_OK(execution->run_step_by_step(
      in, addresses,
      [&](size_t step, const Arguments& arguments, const std::function<Status()>& launch) {
        return trace.around(step, arguments, launch);
      }));
  for (size_t i = 0; i < outputs.size(); ++i) trace.see_output(trace.trace.outputs[i], outputs[i]);
  return std::move(trace.trace);
}

}  // namespace enginery
