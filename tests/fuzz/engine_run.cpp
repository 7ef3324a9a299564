#include "tests/fuzz/engine_run.h"

#include "engine/format/engine_file.h"
#include "engine/runtime/execution.h"
#include "engine/runtime/output_sizes.h"

namespace enginery::test {
namespace {

// Beyond this a run says nothing new and takes long.
constexpr int64_t kMaxBytes = 16 << 20;
constexpr double kMaxFlops = 1e8;

// The device and its sources, opened once.
struct Machine {
  Machine() : device(open_device("cpu-sse41", one_thread()).value()) {
    sources = make_tactic_sources(*device).value();
  }
  static DeviceOptions one_thread() {
    DeviceOptions options;
    options.threads = 1;
    return options;
  }
  std::unique_ptr<Device> device;
  TacticSources sources;
  const SigningKey key = SigningKey::generate();
};

Machine& machine() {
  static Machine only;
  return only;
}

bool is_small(const Plan& plan) {
  int64_t bytes = plan.arena_bytes;
  for (const Storage& s : plan.storages) {
    if (s.bytes > kMaxBytes) return false;
    if (s.kind != StorageKind::arena) bytes += s.bytes;
  }
  double flops = 0;
  for (const PlanStep& step : plan.steps) flops += flop_count(step.problem);
  return bytes <= kMaxBytes && flops <= kMaxFlops;
}

// The caller's buffers, each in an allocation of exactly its size, so that the address sanitizer
// sees every byte beyond.
class Buffers {
 public:
  // Integers are 1 and 2, so that they may be indices and divisors; booleans are valid ones.
  void* add(const TensorType& type) {
    const auto size = static_cast<size_t>(bytes_of(type));
    const auto element = static_cast<size_t>(element_bytes(type.type));
    blocks_.push_back(std::make_unique<std::byte[]>(size));
    for (size_t i = 0; i < size; ++i) {
      const size_t number = i % element ? 0 : 1 + i / element % 2;
      const size_t byte = is_floating(type.type) ? i % 64 : is_integer(type.type) ? number : i % 2;
      blocks_.back()[i] = static_cast<std::byte>(byte);
    }
    return blocks_.back().get();
  }

 private:
  std::vector<std::unique_ptr<std::byte[]>> blocks_;
};

// Runs it as ExecutionContext does: the counts of sizes have memory of their own, and every
// output's dims and elements are read under what they say.
Status run_once(Execution& execution, const RunTimeSizes& run_time_sizes) {
  const Plan& plan = execution.plan();
  Buffers buffers;
  std::vector<TensorMemory> inputs, outputs;
  const auto type = [&](int t) { return plan.tensors[static_cast<size_t>(t)].type; };
  TRY(const OutputSizes sizes,
      OutputSizes::make(run_time_sizes, plan.outputs.size(), *machine().device));
  for (const int t : plan.inputs) inputs.push_back({buffers.add(type(t))});
  const size_t own = own_output_count(run_time_sizes, plan.outputs.size());
  for (size_t i = 0; i < own; ++i) outputs.push_back({buffers.add(type(plan.outputs[i]))});
  CHECK_OK(execution.run(inputs, sizes.any() ? sizes.with_counts(outputs) : outputs));
  for (size_t i = 0; i < own; ++i) {
    const TensorType& largest = type(plan.outputs[i]);
    TRY(const Dims dims, sizes.dims_of(i, largest.dims, execution));
    TRY(const Tensor given, execution.read(outputs[i].data, dims, Format{largest.type, {}}));
    ENSURE(given.bytes() <= bytes_of(largest), "an output that is larger than its memory");
  }
  return {};
}

Fate run(EngineFile& engine) {
  if (!is_small(engine.plan)) return Fate::too_large_to_run;
  Machine& here = machine();
  auto program = Program::make(std::move(engine.plan), *here.device, here.sources);
  if (!program.ok()) return Fate::not_prepared;
  auto execution = Execution::make(*program);
  if (!execution.ok()) return Fate::not_prepared;
  return run_once(**execution, engine.manifest.run_time_sizes).ok() ? Fate::ran : Fate::run_failed;
}

}  // namespace

Fate sign_load_and_run(const Bytes& body) {
  const SigningKey& key = machine().key;
  auto file = std::make_shared<Bytes>(body);
  *file += signature_trailer(sha256(body), key);
  auto engine = read_engine(std::move(file), TrustStore{{key.public_key()}});
  if (engine.ok()) return run(*engine);
  const ErrorCode code = engine.error().code;
  ENSURE(code == ErrorCode::untrusted || code == ErrorCode::incompatible, engine.error().message);
  return Fate::refused;
}

}  // namespace enginery::test
