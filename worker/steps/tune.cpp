#include <chrono>

#include "worker/steps/step_functions.h"
#include "worker/steps/tuning.h"

namespace enginery {
namespace {

std::vector<NamedNumber> metrics_of(const TunerCounts& counts, double tuning_s) {
  return {{"timings_measured", static_cast<double>(counts.timings_measured)},
          {"timings_reused", static_cast<double>(counts.timings_reused)},
          {"problems", static_cast<double>(counts.problems)},
          {"tuning_s", tuning_s},
          {"tune_preparing_s", counts.preparing_s},
          {"tune_checking_s", counts.checking_s},
          {"tune_checking_share", tuning_s > 0 ? counts.checking_s / tuning_s : 0},
          {"tune_racing_s", counts.racing_s},
          {"tune_networks_s", counts.networks_s}};
}

// Its counts, and the choices where this worker leads the tuning.
Result<TunerCounts> tune(const StepContext& step, const Network& network, const Target& target,
                         StepOutputs& out) {
  if (step.tuning.assistant > 0) return measure_problems(step, network, target);
  TRY(TunedNetwork tuned, choose_tactics(step, network, target));
  out.blobs["choices"] = std::move(tuned.choices);
  return tuned.counts;
}

}  // namespace

Result<StepOutputs> tune_step(const StepContext& step) {
  const Progress begun{doing("tune"), 0, 0};
  step.hooks.progress(begun);
  if (!step.tuning.timings)
    return Error{ErrorCode::internal, "the tuning was started without a store of timings"};
  TRY(const Target* target, step.session.target());
  TRY(const DeviceLock lock, lock_device(step, target->device->info(), begun));
  TRY(const Network* network, step.session.network());
  const auto start = std::chrono::steady_clock::now();
  StepOutputs out;
  TRY(const TunerCounts counts, tune(step, *network, *target, out));
  out.metrics = metrics_of(
      counts, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  step.hooks.log((step.tuning.assistant > 0 ? "measured for another worker; of " : "tuned ") +
                 std::to_string(counts.problems) +
                 " problems: " + std::to_string(counts.timings_measured) + " timings measured, " +
                 std::to_string(counts.timings_reused) + " reused");
  return out;
}

}  // namespace enginery
