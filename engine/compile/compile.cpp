#include "engine/compile/compile.h"

#include <algorithm>

#include "engine/compile/counted_floats.h"
#include "engine/compile/layers_meant.h"
#include "engine/graph/text.h"
#include "engine/plan/workspace_limit.h"

namespace enginery {
namespace {

Manifest make_manifest(const LoadedModel& model, const Plan& plan, const Target& target,
                       const BuildOptions& options) {
  const DeviceInfo& info = target.device->info();
  Manifest m;
  m.name = model.name;
  m.sku = info.sku;
  m.kind = info.kind;
  for (Precision p : options.precisions) m.precisions.emplace_back(to_string(p));
  m.threads = info.threads;
  m.level = options.level;
  m.provisional = options.provisional;
  m.model_digest = model.model_digest.text();
  m.structure_digest = model.structure_digest.text();
  m.options = to_text(options);
  m.builder = builder_name();
  m.software = info.software;
  auto describe = [&](const std::vector<int>& tensors) {
    std::vector<NamedType> out;
    for (int t : tensors)
      out.push_back(
          {plan.tensors[static_cast<size_t>(t)].name, plan.tensors[static_cast<size_t>(t)].type});
    return out;
  };
  m.inputs = describe(plan.inputs);
  m.outputs = describe(plan.outputs);
  m.run_time_sizes = model.graph.run_time_sizes;
  return m;
}

Status compile_code(Plan& plan, const TacticSources& sources, const StepWatch& watch) {
  for (PlanStep& step : plan.steps) {
    const TacticSource* source = find_source(sources, step.tactic.source);
    if (!source || step.tactic.view_of >= 0) continue;
    watch.in_flight(step, false);
    auto code = source->compile(step.problem, step.tactic);
    watch.in_flight(step, true);
    if (!code) {
      watch.failed(step, FailureKind::compile, code.error());
      return code.error().within("layer '" + step.name + "'");
    }
    if (!code->empty()) step.tactic.code = std::make_shared<const Bytes>(std::move(*code));
  }
  return {};
}

// No value is larger than the limit.
Status check_values(const Graph& graph) {
  for (NodeId id = 0; id < graph.node_count(); ++id) {
    const Node& node = graph.node(id);
    if (node.erased) continue;
    for (const ValueId v : node.outputs) {
      const TensorType& type = graph.value(v).type;
      if (!is_static(type.dims)) continue;
      const int64_t mib = bytes_of(type) >> 20;
      if (mib <= graph.limits.value_mib) continue;
      return Error{ErrorCode::unsupported,
                   "node '" + node.name + "' (" + std::string(op_name(node.op)) + "): its result " +
                       to_string(type) + " takes " + std::to_string(mib) + " MiB, more than " +
                       std::to_string(graph.limits.value_mib) +
                       limit_advice(&Limits::value_mib, mib + 1)};
    }
  }
  return {};
}

// Whether int8 is allowed, for the network or a layer of it.
bool allows_int8(const BuildOptions& options) {
  return options.precisions.contains(Precision::int8) ||
         std::ranges::count(options.layer_precisions, Precision::int8, &LayerPrecision::precision);
}

// int8 is not guessed.
Status check_quantized(const Graph& graph) {
  for (NodeId id = 0; id < graph.node_count(); ++id) {
    const Node& node = graph.node(id);
    if (!node.erased && std::holds_alternative<Dequantize>(node.op)) return {};
  }
  return Error{ErrorCode::unsupported,
               "int8 needs scales, and the model has no QuantizeLinear: give a calibration "
               "(--calib FILE, as `enginery calibrate` writes it)"};
}

// Batch normalisations behind a Quantize of the model's own: what it rounds cannot be folded
// away (engine/tactics/README.md).
void note_batch_norms(const Graph& graph, std::vector<std::string>& notes) {
  int count = 0;
  for (const NodeId id : graph.needed_order()) {
    if (!std::holds_alternative<BatchNorm>(graph.node(id).op)) continue;
    const NodeId by = graph.value(graph.node(id).inputs[0]).producer;
    count += by != kNoNode && std::holds_alternative<Dequantize>(graph.node(by).op);
  }
  if (count == 0) return;
  notes.push_back("int8: " + std::to_string(count) +
                  " batch normalisations read numbers that the model rounds to 8 bits, so that "
                  "each is a pass of its own; fold them into the convolutions before quantising "
                  "(onnxruntime.quantization.quant_pre_process does), and these passes are gone");
}

}  // namespace

Result<LoadedModel> load_model(const ModelSource& source, const std::string& name,
                               const BuildOptions& options, const PassOptions& passes,
                               const TensorScales* scales, const std::set<std::string>& in_float,
                               const ChannelMeans& means) {
  ImportOptions import;
  import.shapes = options.shapes;
  import.default_symbols_to_one = true;
  TRY(ImportedModel imported, import_model(source, import));
  LoadedModel out;
  out.name = name;
  out.model_digest = sha256(source.bytes.view());
  out.notes = std::move(imported.notes);
  // Sizes are all known here; specialising once more also gives inputs that the file leaves without
  // a symbol a size.
  TRY(SpecializedGraph special, specialize(imported.graph, options.shapes));
  out.imported = std::move(special.graph);
  out.imported.limits = options.limits;
  CHECK_OK(check_values(out.imported));
  for (std::string& note : special.defaulted) out.notes.push_back(std::move(note));
  std::string float_structure;  // where that of the quantised network does not tell it
  if (scales) {
    if (scales->model && *scales->model != fingerprint(out.imported))
      out.notes.push_back(
          "calibration: its histograms are of other weights, other shapes or another model; their "
          "scales are taken by the tensors' names");
    const Digest before = structure_fingerprint(out.imported);
    const LayerPrecisions asked = with_names(options.layer_precisions, out.imported);
    TRY(QuantizedProducts quantized, quantize_products(
                                         out.imported, *scales,
                                         [&](const std::string& layer) {
                                           return !in_float.contains(layer) &&
                                                  may_be_int8(asked, layer);
                                         },
                                         means));
    if (quantized.counted > 0) float_structure = before.text();
    if (quantized.corrected > 0)
      out.notes.push_back("int8: biases of " + std::to_string(quantized.corrected) +
                          " layers corrected by the means of their inputs' channels");
    for (std::string& note : quantized.notes) out.notes.push_back(std::move(note));
  } else if (allows_int8(options)) {
    CHECK_OK(check_quantized(out.imported));
    note_batch_norms(out.imported, out.notes);
  }
  out.graph = out.imported;
  PassOptions with_skips = passes;
  with_skips.skip.insert(options.skip_passes.begin(), options.skip_passes.end());
  if (!with_skips.log)
    with_skips.log = [&](const std::string& line) { out.pass_log.push_back(line); };
  CHECK_OK(run_passes(out.graph, with_skips));
  TRY(out.precisions, layers_meant(out.graph, out.imported, options.layer_precisions));
  out.structure_digest =
      structure_with(structure_fingerprint(out.graph), out.graph, out.precisions);
  if (!float_structure.empty())
    out.structure_digest = sha256(out.structure_digest.text() + "\nin float " + float_structure);
  return out;
}

Result<Target> open_target(const std::string& sku, const BuildOptions& options) {
  DeviceOptions device_options;
  device_options.threads = options.threads;
  device_options.compile_only = options.provisional;
  Target out;
  TRY(out.device, open_device(sku, device_options));
  TRY(out.sources, make_tactic_sources(*out.device, {options.without_sources}));
  const std::optional<int64_t> most = options.memory_pools.workspace;
  for (auto& source : out.sources)
    if (most) source = within_workspace(std::move(source), *most);
  return out;
}

Result<Network> lower_model(const LoadedModel& model, const Target& target,
                            const BuildOptions& options) {
  NodePrecisions precisions = model.precisions;
  if (options.precisions != std::set{Precision::fp32}) {
    for (const NodeId id : counting_nodes(model.graph)) precisions.emplace(id, Precision::fp32);
    for (const NodeId id : placing_nodes(model.graph)) precisions.emplace(id, Precision::fp32);
  }
  for (const NodeId id : model.beyond_float16) precisions[id] = Precision::fp32;
  return lower(model.graph, target.sources, options.precisions, precisions);
}

Result<Bytes> assemble(const LoadedModel& model, const Network& network,
                       const TacticSelection& selection, const Target& target,
                       const BuildOptions& options, const StepWatch& watch) {
  TRY(Plan plan, make_plan(network, selection));
  CHECK_OK(compile_code(plan, target.sources, watch));
  return write_content(make_manifest(model, plan, target, options), plan);
}

}  // namespace enginery
