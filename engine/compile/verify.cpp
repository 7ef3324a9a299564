#include <algorithm>
#include <limits>

#include "engine/compile/compare_outputs.h"
#include "engine/compile/compile.h"
#include "engine/compile/first_divergence.h"
#include "engine/compile/float16_overflow.h"
#include "engine/compile/watched_run.h"
#include "engine/graph/made_up_inputs.h"

namespace enginery {
namespace {

constexpr uint64_t kSeed = 20261121;

// What the reference has to compute, worlds included.
double reference_flops(const Plan& plan, const Graph& imported) {
  double sum = 0;
  for (const PlanStep& step : plan.steps) sum += flop_count(step.problem);
  return decides_before_products(imported) ? kWorlds * sum : sum;
}

// The size of the first dimension of every input and output, where they have one in common.
int64_t common_rows(const Graph& graph) {
  int64_t rows = -1;
  for (const auto* list : {&graph.inputs(), &graph.outputs()}) {
    for (const ValueId v : *list) {
      const Dims& dims = graph.value(v).type.dims;
      if (dims.empty() || (rows >= 0 && dims[0] != rows)) return 1;
      rows = dims[0];
    }
  }
  return std::max<int64_t>(rows, 1);
}

// The graph on fewer rows; nothing where it does not let itself be cut (a Reshape to whole sizes).
std::optional<Graph> with_rows(const Graph& graph, int64_t rows) {
  std::map<std::string, Dims> shapes;
  for (const ValueId v : graph.inputs()) {
    Dims dims = graph.value(v).type.dims;
    dims[0] = rows;
    shapes[graph.value(v).name] = std::move(dims);
  }
  auto cut = specialize(graph, shapes);
  if (!cut) return std::nullopt;
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    Dims dims = graph.value(graph.outputs()[i]).type.dims;
    dims[0] = rows;
    if (cut->graph.value(cut->graph.outputs()[i]).type.dims != dims) return std::nullopt;
  }
  return std::move(cut->graph);
}

// Row i of the result is row i modulo the tensor's rows: a model that mixes its rows gives the same
// for repeated ones, or is refused.
Tensor repeated(const Tensor& t, int64_t rows) {
  if (t.rank() == 0 || t.dims()[0] == rows || t.dims()[0] == 0) return t;
  Dims dims = t.dims();
  dims[0] = rows;
  Tensor out(t.type(), dims);
  const auto row = static_cast<size_t>(t.bytes() / t.dims()[0]);
  auto* to = static_cast<std::byte*>(out.mutable_bytes());
  for (int64_t i = 0; i < rows; ++i) {
    std::memcpy(to + static_cast<size_t>(i) * row,
                static_cast<const std::byte*>(t.raw()) + static_cast<size_t>(i % t.dims()[0]) * row,
                row);
  }
  return out;
}

// What the engine is held against: the reference on `graph`, which is the model or its first rows.
struct Expectation {
  Graph graph;
  int64_t rows = 1, compared_rows = 1;
  std::vector<Tensor> inputs;  // of `graph`
  std::vector<DecidedValue> outputs;
};

DecidedValue repeated(DecidedValue value, const Expectation& expected) {
  if (expected.compared_rows == expected.rows) return value;
  for (Tensor& world : value.worlds) world = repeated(world, expected.rows);
  if (!value.choice) return value;
  Choice choice = *value.choice;
  const bool along_rows = choice.size * choice.inner == choice.scores.size();
  choice.scores = repeated(choice.scores, expected.rows);
  value.choice = along_rows ? nullptr : std::make_shared<const Choice>(std::move(choice));
  return value;
}

Expectation cut_to_budget(const Graph& imported, double flops, double most) {
  Expectation out{imported, common_rows(imported), 1, {}, {}};
  out.compared_rows = out.rows;
  if (flops <= most || out.rows == 1) return out;
  int64_t rows = static_cast<int64_t>(most / (flops / static_cast<double>(out.rows)));
  // An odd number: then neighbouring tiles of a kernel never hold the same rows.
  rows = std::clamp<int64_t>(rows - (rows % 2 == 0), 1, out.rows);
  if (auto cut = with_rows(imported, rows)) {
    out.graph = std::move(*cut);
    out.compared_rows = rows;
  }
  return out;
}

// Made-up values within what the graph asks for; where that does not do, ones and then zeros for
// integers.
std::vector<std::vector<Tensor>> made_up(const Graph& graph) {
  std::vector<std::vector<Tensor>> out{made_up_inputs(graph, kSeed)};
  for (const double integer : {1.0, 0.0}) {
    std::vector<Tensor> inputs = out[0];
    for (Tensor& t : inputs) {
      if (!is_floating(t.type())) t = made_up_input(t.tensor_type(), {integer, integer}, kSeed);
    }
    out.push_back(std::move(inputs));
  }
  return out;
}

// Fills in inputs and outputs. Errors: invalid_argument where an operator refuses the data.
Status compute(Expectation& expected, const std::vector<std::vector<Tensor>>& candidates,
               double bar) {
  Status first;
  for (const std::vector<Tensor>& inputs : candidates) {
    auto outputs = run_decided(expected.graph, inputs, bar);
    if (outputs) {
      expected.inputs = inputs;
      expected.outputs = std::move(*outputs);
      return {};
    }
    if (outputs.error().code != ErrorCode::invalid_argument) return outputs.error();
    if (first.ok()) first = outputs.error();
  }
  return first;
}

Status check_given(const Graph& graph, const std::vector<Tensor>& given) {
  bool fits = given.size() == graph.inputs().size();
  for (size_t i = 0; fits && i < given.size(); ++i)
    fits = given[i].tensor_type() == graph.value(graph.inputs()[i]).type;
  if (fits) return {};
  return Error{ErrorCode::invalid_argument, "the given inputs are not those of the model"};
}

// The first rows of what was given.
std::vector<Tensor> first_rows(const std::vector<Tensor>& given, const Graph& graph) {
  std::vector<Tensor> out;
  for (size_t i = 0; i < given.size(); ++i) {
    const TensorType& type = graph.value(graph.inputs()[i]).type;
    Tensor t(type.type, type.dims);
    if (t.bytes() > 0)
      std::memcpy(t.mutable_bytes(), given[i].raw(), static_cast<size_t>(t.bytes()));
    out.push_back(std::move(t));
  }
  return out;
}

// Step by step, so that a tactic that does not come back is known; then as a whole, which counts.
Result<std::vector<Tensor>> run_engine(Plan plan, const Target& target,
                                       const std::vector<Tensor>& inputs,
                                       const EngineWatch& watch) {
  TRY(auto program, Program::make(std::move(plan), *target.device, target.sources, watch.steps));
  TRY(auto execution, Execution::make(program));
  std::vector<const void*> in;
  for (const Tensor& t : inputs) in.push_back(t.raw());
  std::vector<Tensor> outputs;
  for (const int t : program->plan().outputs) {
    const TensorType& type = program->plan().tensors[static_cast<size_t>(t)].type;
    outputs.emplace_back(type.type, type.dims);
  }
  std::vector<void*> addresses;
  for (Tensor& t : outputs) addresses.push_back(t.mutable_bytes());
  CHECK_OK(run_watched(*execution, in, addresses, watch));
  CHECK_OK(run_whole(*execution, in, addresses, watch));
  return outputs;
}

// Whether the engine takes and gives what the model does, in the same order. A size that the passes
// found out alone is left to the comparison.
bool has_signature_of(const Plan& plan, const Graph& graph) {
  const auto agree = [&](int t, ValueId v) {
    const TensorType &own = plan.tensors[static_cast<size_t>(t)].type, &meant = graph.value(v).type;
    return own.type == meant.type &&
           std::ranges::equal(own.dims, meant.dims, [](auto a, auto b) { return a == b || b < 0; });
  };
  const auto same = [&](const std::vector<int>& tensors, const std::vector<ValueId>& values) {
    return std::ranges::equal(tensors, values, agree);
  };
  return same(plan.inputs, graph.inputs()) && same(plan.outputs, graph.outputs());
}

// What is wrong whichever tactics were chosen.
void reject(const std::string& why, Accuracy& out) {
  out.worst_error = std::numeric_limits<double>::infinity();
  out.pass_at_fault = true;
  if (out.wrong.empty()) out.wrong = why;
}

void compare(const std::vector<Tensor>& outputs, const Expectation& expected,
             const ComparisonBars& bars, Accuracy& out) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const DecidedValue value = repeated(expected.outputs[i], expected);
    const std::string name =
        "output '" + expected.graph.value(expected.graph.outputs()[i]).name + "'";
    if (outputs[i].dims() != value.exact().dims()) {
      reject(name + " has the sizes " + to_string(outputs[i].dims()) + " and not " +
                 to_string(value.exact().dims()),
             out);
      continue;
    }
    const Comparison one = compare_output(outputs[i], value, bars);
    out.worst_error = std::max(out.worst_error, one.error);
    if (!one.wrong.empty() && out.wrong.empty()) out.wrong = name + " " + one.wrong;
    if (!one.note.empty()) out.notes.push_back(name + ": " + one.note);
  }
}

// The values that the engine stores in float16, by name.
std::set<std::string> stored_in_float16(const Plan& plan) {
  std::set<std::string> out;
  for (const PlanTensor& tensor : plan.tensors) {
    if (tensor.format.type == DataType::float16) out.insert(tensor.name);
  }
  return out;
}

std::set<NodeId> nodes_named(const Graph& graph, const std::set<std::string>& names) {
  std::set<NodeId> out;
  for (NodeId id = 0; id < graph.node_count(); ++id) {
    if (!graph.node(id).erased && names.contains(graph.node(id).name)) out.insert(id);
  }
  return out;
}

// Which layer's, if a pass made it or float16 does not hold its values.
void name_layer(const LoadedModel& model, const Expectation& expected,
                const std::set<std::string>& in_float16, Accuracy& out) {
  if (out.wrong.empty()) return;
  std::optional<Graph> optimised = model.graph;
  if (expected.compared_rows < expected.rows)
    optimised = with_rows(model.graph, expected.compared_rows);
  if (!optimised) return;
  const auto first = first_divergence(expected.graph, *optimised, expected.inputs, out.bar);
  const bool diverges = first && first->has_value();
  out.pass_at_fault |= diverges;
  if (diverges)
    out.wrong +=
        "; a pass changed the model: the first layer that diverges is " + to_string(**first);
  if (in_float16.empty()) return;
  const auto overflow = float16_overflow(*optimised, expected.inputs, in_float16);
  if (!overflow || overflow->first.empty()) return;
  out.wrong += "; " + overflow->first + "; " + overflow->remedy;
  out.overflow = overflow->first;
  out.beyond_float16 = nodes_named(model.graph, overflow->layers);
}

}  // namespace

std::set<Precision> precisions_of(const Plan& plan) {
  std::set<Precision> out{Precision::fp32};
  for (const PlanStep& step : plan.steps) out.insert(step.tactic.compute);
  for (const PlanTensor& tensor : plan.tensors) {
    if (tensor.format.type == DataType::float16) out.insert(Precision::fp16);
    if (tensor.format.type == DataType::bfloat16) out.insert(Precision::bf16);
  }
  return out;
}

double accuracy_bar(const std::set<Precision>& precisions, DeviceKind kind) {
  if (precisions.count(Precision::bf16) || precisions.count(Precision::int8)) return 5e-2;
  if (precisions.count(Precision::tf32) || precisions.count(Precision::fp16)) return 1e-2;
  return kind == DeviceKind::cpu ? 1e-3 : 1e-4;
}

Result<Accuracy> verify_content(const LoadedModel& model, std::shared_ptr<const Bytes> content,
                                const Target& target, const VerificationOptions& options) {
  Accuracy out;
  TRY(EngineFile engine, read_unsigned_engine(std::move(content)));
  const std::set<Precision> precisions = precisions_of(engine.plan);
  out.bar = accuracy_bar(precisions, target.device->info().kind);
  if (!has_signature_of(engine.plan, model.imported)) {
    reject("the engine's inputs and outputs are not the model's", out);
    return out;
  }
  Expectation expected = cut_to_budget(model.imported, reference_flops(engine.plan, model.imported),
                                       options.max_reference_flops);
  if (!options.inputs.empty()) {
    CHECK_OK(check_given(model.imported, options.inputs));
    CHECK_OK(compute(expected, {first_rows(options.inputs, expected.graph)}, out.bar));
  } else if (const Status made = compute(expected, made_up(expected.graph), out.bar); !made.ok()) {
    if (made.error().code != ErrorCode::invalid_argument) return made.error();
    out.skipped = "made-up inputs do not fit the model (" + made.error().message +
                  "); --input gives real ones";
    return out;
  }
  const bool is_cut = expected.compared_rows < expected.rows;
  if (is_cut) {
    out.notes.push_back("compared with the reference on " + std::to_string(expected.compared_rows) +
                        " rows, repeated over the batch of " + std::to_string(expected.rows));
  }
  for (const Tensor& t : expected.inputs)
    out.inputs.push_back(is_cut ? repeated(t, expected.rows) : t);
  const std::set<std::string> in_float16 = stored_in_float16(engine.plan);
  TRY(const std::vector<Tensor> outputs,
      run_engine(std::move(engine.plan), target, out.inputs, options.watch));
  compare(outputs, expected, {out.bar, precisions.contains(Precision::fp16)}, out);
  name_layer(model, expected, in_float16, out);
  return out;
}

}  // namespace enginery
