#include <algorithm>
#include <chrono>

#include "engine/base/statistics.h"
#include "engine/compile/watched_run.h"
#include "engine/runtime/sample_inputs.h"

namespace enginery {
namespace {

// A run takes microseconds or a second: kEnoughRuns at least, unless they would pass kMaxUs; then
// fewer, but kMinRuns. The same holds for the rounds over all layers. Warming up ends at kWarmUpUs.
constexpr int kWarmUp = 5, kMinRuns = 3, kEnoughRuns = 20, kMaxRuns = 300;
constexpr double kWarmUpUs = 0.3e6, kBudgetUs = 0.7e6, kMaxUs = 1e6, kMaxWatchedUs = 60e6;

double now_us(const Clock& clock) {
  return std::chrono::duration<double, std::micro>(clock.monotonic()).count();
}

// Calls `once` until enough runs are made or the time is up; the median of what it returns, in
// microseconds.
template <typename F>
Result<double> median_of_runs(const Clock& clock, F&& once) {
  std::vector<double> samples;
  const double start = now_us(clock);
  for (int i = 0; i < kMaxRuns + kWarmUp; ++i) {
    TRY(const double us, once());
    const double spent = now_us(clock) - start;
    if (i >= kWarmUp || spent > kWarmUpUs) samples.push_back(us);
    if (samples.size() >= kEnoughRuns && spent > kBudgetUs) break;
    if (samples.size() >= kMinRuns && spent > kMaxUs) break;
  }
  return median(std::move(samples));
}

// How often every layer is measured. Short layers are repeated up to what the instrument resolves,
// so a round takes longer than a run where there are many of them.
int layer_rounds(const Program& program, double run_us) {
  const Measurer* measurer = program.device().measurer();
  const double shortest_us = measurer ? measurer->min_resolvable_us() : 0;
  const double layers = static_cast<double>(program.plan().steps.size());
  const double round_us = std::max({run_us, layers * shortest_us, 1.0});
  return std::clamp(static_cast<int>(kMaxUs / round_us), kMinRuns, kEnoughRuns);
}

// One of the runs that were timed ended a process: this one is to end in the same step, alone.
Status run_often(Execution& execution, std::span<const void* const> inputs,
                 std::span<void* const> outputs, const Clock& clock, const EngineWatch& watch) {
  const double start = now_us(clock);
  for (int i = 0; i < 2 * (kMaxRuns + kWarmUp) && now_us(clock) - start < kMaxWatchedUs; ++i)
    CHECK_OK(run_watched(execution, inputs, outputs, watch));
  return {};
}

}  // namespace

Result<Profile> profile_content(std::shared_ptr<const Bytes> content, const Target& target,
                                const Clock& clock, const EngineWatch& watch) {
  TRY(EngineFile engine, read_unsigned_engine(std::move(content)));
  TRY(auto program,
      Program::make(std::move(engine.plan), *target.device, target.sources, watch.steps));
  TRY(auto execution, Execution::make(program));
  const std::vector<Tensor> samples = sample_inputs(program->plan());
  std::vector<Tensor> results;
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  for (const Tensor& t : samples) inputs.push_back(t.raw());
  for (const int t : program->plan().outputs) {
    const TensorType& type = program->plan().tensors[static_cast<size_t>(t)].type;
    outputs.push_back(results.emplace_back(type.type, type.dims).mutable_bytes());
  }
  Profile out;
  // Made-up data that an operator refuses says nothing about the engine.
  if (const Status once = run_whole(*execution, inputs, outputs, watch); !once.ok()) {
    if (once.error().code != ErrorCode::invalid_argument) return once.error();
    out.skipped = "made-up inputs do not fit the model (" + once.error().message + ")";
    return out;
  }
  if (watch.steps.one_by_one) CHECK_OK(run_often(*execution, inputs, outputs, clock, watch));
  TRY(out.median_us, median_of_runs(clock, [&]() -> Result<double> {
        watch.run(false);
        const double start = now_us(clock);
        CHECK_OK(execution->run(inputs, outputs));
        const double us = now_us(clock) - start;
        watch.run(true);
        return us;
      }));
  TRY(out.device_median_us, median_of_runs(clock, [&] {
        watch.run(false);
        auto us = execution->time_us();
        watch.run(true);
        return us;
      }));
  watch.run(false);
  TRY(out.step_us, execution->profile(layer_rounds(*program, out.device_median_us)));
  watch.run(true);
  return out;
}

}  // namespace enginery
