#include <map>
#include <random>

#include "engine/compile/compile.h"
#include "engine/graph/run_graph.h"
#include "engine/runtime/execution.h"

namespace enginery {
namespace {

// The reference computes a few GFLOP a second: beyond this it would take minutes.
constexpr double kMaxReferenceFlops = 3e11;
constexpr uint64_t kSeed = 20261121;

double total_flops(const Plan& plan) {
  double sum = 0;
  for (const PlanStep& step : plan.steps) sum += flop_count(step.problem);
  return sum;
}

// Smooth values in [-1, 1] with structure at several scales.
Tensor test_input(const TensorType& type, float integer, std::mt19937_64& random) {
  Tensor out(DataType::float32, type.dims);
  std::uniform_real_distribution<float> uniform(-1, 1);
  float slow = 0, fast = 0;
  for (float& v : out.mutable_data<float>()) {
    slow += 0.02f * (uniform(random) - slow);
    fast += 0.5f * (uniform(random) - fast);
    v = is_floating(type.type) ? 4 * slow + fast : integer;
  }
  return convert(out, type.type);
}

struct Sample {
  std::map<std::string, Tensor> inputs, expected;  // by name
};

Result<Sample> sample_of(const Graph& graph, float integer) {
  Sample out;
  std::mt19937_64 random(kSeed);
  for (ValueId v : graph.inputs()) {
    const Value& value = graph.value(v);
    out.inputs.emplace(value.name, test_input(value.type, integer, random));
  }
  TRY(out.expected, run_graph(graph, out.inputs));
  return out;
}

// Integers are ones: masks that hide nothing (what they hide has no precision in float16) and
// positions that most tables have; zeros where the reference finds no such position.
Result<Sample> sample_of(const Graph& graph) {
  auto ones = sample_of(graph, 1);
  return ones.ok() ? ones : sample_of(graph, 0);
}

}  // namespace

double accuracy_bar(const std::set<Precision>& precisions, DeviceKind kind) {
  if (precisions.count(Precision::bf16) || precisions.count(Precision::int8)) return 5e-2;
  if (precisions.count(Precision::tf32) || precisions.count(Precision::fp16)) return 1e-2;
  return kind == DeviceKind::cpu ? 1e-3 : 1e-4;
}

Result<Accuracy> verify_content(const LoadedModel& model, std::shared_ptr<const Bytes> content,
                                const Target& target, const BuildOptions& options) {
  Accuracy out;
  out.bar = accuracy_bar(options.precisions, target.device->info().kind);
  TRY(EngineFile engine, read_unsigned_engine(std::move(content)));
  if (double flops = total_flops(engine.plan); flops > kMaxReferenceFlops) {
    out.skipped =
        "the reference would need " + std::to_string(static_cast<int64_t>(flops / 1e9)) + " GFLOP";
    return out;
  }
  TRY(const Sample sample, sample_of(model.graph));
  std::vector<const void*> in;
  for (ValueId v : model.graph.inputs())
    in.push_back(sample.inputs.at(model.graph.value(v).name).raw());
  TRY(auto program, Program::make(std::move(engine.plan), *target.device, target.sources));
  TRY(auto execution, Execution::make(program));
  std::vector<Tensor> outputs;
  std::vector<void*> addresses;
  for (int t : program->plan().outputs) {
    const TensorType& type = program->plan().tensors[static_cast<size_t>(t)].type;
    outputs.emplace_back(type.type, type.dims);
  }
  for (Tensor& t : outputs) addresses.push_back(t.mutable_bytes());
  CHECK_OK(execution->run(in, addresses));
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Value& value = model.graph.value(model.graph.outputs()[i]);
    out.worst_error =
        std::max(out.worst_error, relative_error(outputs[i], sample.expected.at(value.name)));
  }
  return out;
}

}  // namespace enginery
