#include <random>

#include "engine/compile/compile.h"
#include "engine/graph/run_graph.h"
#include "engine/runtime/execution.h"

namespace enginery {
namespace {

// The reference computes a few GFLOP a second: beyond this it would take minutes.
constexpr double kMostReferenceFlops = 3e11;
constexpr uint64_t kSeed = 20261121;

double total_flops(const Plan& plan) {
  double sum = 0;
  for (const PlanStep& step : plan.steps) sum += flop_count(step.problem);
  return sum;
}

// Smooth values in [-1, 1] with structure at several scales; zeros for integers, which may be positions.
Tensor test_input(const TensorType& type, std::mt19937_64& random) {
  Tensor out(DataType::float32, type.dims);
  std::uniform_real_distribution<float> uniform(-1, 1);
  float slow = 0, fast = 0;
  for (float& v : out.mutable_data<float>()) {
    slow += 0.02f * (uniform(random) - slow);
    fast += 0.5f * (uniform(random) - fast);
    v = is_floating(type.type) ? 4 * slow + fast : 0;
  }
  return convert(out, type.type);
}

}  // namespace

double accuracy_bar(const std::set<Precision>& precisions, DeviceKind kind) {
  if (precisions.count(Precision::bf16) || precisions.count(Precision::int8)) return 5e-2;
  if (precisions.count(Precision::tf32) || precisions.count(Precision::fp16)) return 1e-2;
  return kind == DeviceKind::cpu ? 1e-3 : 1e-4;
}

Result<Accuracy> verify_content(const LoadedModel& model, std::shared_ptr<const Bytes> content, const Target& target,
                                const BuildOptions& options) {
  Accuracy out;
  out.bar = accuracy_bar(options.precisions, target.device->info().kind);
  TRY(EngineFile engine, read_unsigned_engine(std::move(content)));
  if (double flops = total_flops(engine.plan); flops > kMostReferenceFlops) {
    out.skipped = "the reference would need " + std::to_string(static_cast<int64_t>(flops / 1e9)) + " GFLOP";
    return out;
  }
  std::mt19937_64 random(kSeed);
  std::map<std::string, Tensor> inputs;
  std::vector<const void*> in;
  for (ValueId v : model.graph.inputs()) {
    const Value& value = model.graph.value(v);
    in.push_back(inputs.emplace(value.name, test_input(value.type, random)).first->second.raw());
  }
  TRY(auto expected, run_graph(model.graph, inputs));
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
    out.worst_error = std::max(out.worst_error, relative_error(outputs[i], expected.at(value.name)));
  }
  return out;
}

}  // namespace enginery
