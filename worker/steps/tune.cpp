#include <chrono>

#include "worker/steps/step_functions.h"

namespace enginery {
namespace {

using std::chrono::steady_clock;

double seconds_since(steady_clock::time_point start) {
  return std::chrono::duration<double>(steady_clock::now() - start).count();
}

// The tuner's progress with an ETA from what is done of the phase so far.
std::function<void(const TunerProgress&)> with_eta(const StepHooks& hooks) {
  return [&hooks, current = std::string(),
          start = steady_clock::now()](const TunerProgress& p) mutable {
    if (p.phase != current) {
      current = p.phase;
      start = steady_clock::now();
    }
    const std::string phase = p.phase == "tune" ? doing("tune") : doing("tune") + " " + p.phase;
    const double each = p.done > 0 ? seconds_since(start) / p.done : 0;
    hooks.progress({phase, static_cast<uint64_t>(p.done), static_cast<uint64_t>(p.total),
                    each * (p.total - p.done)});
  };
}

TunerOptions tuner_options(const StepContext& step) {
  const BuildOptions& asked = step.session.spec().options;
  TunerOptions options;
  options.level = asked.level;
  options.allowed = asked.precisions;
  options.aux_streams = asked.aux_streams;
  options.one_by_one = step.tuning.one_by_one;
  options.worker = step.worker;
  options.progress = with_eta(step.hooks);
  options.cancelled = step.hooks.cancelled;
  options.log = step.hooks.log;
  options.in_flight = step.tuning.trial;
  return options;
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
  const auto start = steady_clock::now();
  Tuner tuner(*target->device, target->sources, *step.tuning.timings, tuner_options(step));
  TRY(const TacticSelection selection, tuner.select(*network));
  const double tuning_s = seconds_since(start);
  const TunerCounts& counts = tuner.counts();
  StepOutputs out;
  out.blobs["choices"] = to_json(to_record(*network, selection, tuner.node_us()));
  out.metrics = {{"timings_measured", static_cast<double>(counts.timings_measured)},
                 {"timings_reused", static_cast<double>(counts.timings_reused)},
                 {"problems", static_cast<double>(counts.problems)},
                 {"tuning_s", tuning_s},
                 {"tune_preparing_s", counts.preparing_s},
                 {"tune_checking_s", counts.checking_s},
                 {"tune_checking_share", tuning_s > 0 ? counts.checking_s / tuning_s : 0},
                 {"tune_racing_s", counts.racing_s},
                 {"tune_networks_s", counts.networks_s}};
  step.hooks.log("tuned " + std::to_string(counts.problems) +
                 " problems: " + std::to_string(counts.timings_measured) + " timings measured, " +
                 std::to_string(counts.timings_reused) + " reused");
  return out;
}

}  // namespace enginery
