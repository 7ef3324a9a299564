#include <algorithm>
#include <limits>
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

// Tensors in the order of the model's inputs and outputs. By position, not by name: a pass that
// removes an identity between an input and an output gives one value both roles.
struct Sample {
  std::vector<Tensor> inputs, expected;
};

Result<Sample> sample_of(const Graph& graph, float integer) {
  Sample out;
  std::map<std::string, Tensor> by_name;
  std::mt19937_64 random(kSeed);
  for (const ValueId v : graph.inputs()) {
    const Value& value = graph.value(v);
    out.inputs.push_back(test_input(value.type, integer, random));
    by_name.emplace(value.name, out.inputs.back());
  }
  TRY(const auto results, run_graph(graph, by_name));
  for (const ValueId v : graph.outputs()) out.expected.push_back(results.at(graph.value(v).name));
  return out;
}

// Integers are ones: masks that hide nothing (what they hide has no precision in float16) and
// positions that most tables have; zeros where the reference finds no such position.
Result<Sample> sample_of(const Graph& graph) {
  auto ones = sample_of(graph, 1);
  return ones.ok() ? std::move(ones) : sample_of(graph, 0);
}

Result<std::vector<Tensor>> run_engine(Plan plan, const Target& target,
                                       const std::vector<Tensor>& inputs) {
  TRY(auto program, Program::make(std::move(plan), *target.device, target.sources));
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
  CHECK_OK(execution->run(in, addresses));
  return outputs;
}

// Whether the engine takes and gives what the model does, in the same order.
bool has_signature_of(const Plan& plan, const Sample& sample) {
  auto same = [&](const std::vector<int>& tensors, const std::vector<Tensor>& expected) {
    return std::equal(tensors.begin(), tensors.end(), expected.begin(), expected.end(),
                      [&](int t, const Tensor& tensor) {
                        return plan.tensors[static_cast<size_t>(t)].type == tensor.tensor_type();
                      });
  };
  return same(plan.inputs, sample.inputs) && same(plan.outputs, sample.expected);
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
  TRY(const Sample sample, sample_of(model.imported));
  if (!has_signature_of(engine.plan, sample)) {
    out.worst_error = std::numeric_limits<double>::infinity();
    return out;
  }
  TRY(const std::vector<Tensor> outputs, run_engine(std::move(engine.plan), target, sample.inputs));
  for (size_t i = 0; i < outputs.size(); ++i)
    out.worst_error = std::max(out.worst_error, relative_error(outputs[i], sample.expected[i]));
  return out;
}

}  // namespace enginery
