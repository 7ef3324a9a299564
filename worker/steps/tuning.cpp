#include "worker/steps/tuning.h"

#include <chrono>

#include "pipeline/step.h"
#include "tuner/ceilings.h"

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
  options.assistant = step.tuning.assistant;
  options.worker = step.worker;
  options.progress = with_eta(step.hooks);
  options.cancelled = step.hooks.cancelled;
  options.log = step.hooks.log;
  options.in_flight = step.tuning.trial;
  return options;
}

}  // namespace

Result<TunedNetwork> choose_tactics(const StepContext& step, const Network& network,
                                    const Target& target) {
  Tuner tuner(*target.device, target.sources, *step.tuning.timings, tuner_options(step));
  TRY(TacticSelection selection, tuner.select(network));
  SelectionRecord record = to_record(network, selection, tuner.node_us());
  if (step.session.spec().options.level >= 2) {
    TRY(record.ceilings, measured_ceilings(*target.device, target.sources, *step.tuning.timings,
                                           tuner_options(step)));
  }
  Bytes choices = to_json(record);
  return TunedNetwork{std::move(selection), std::move(choices), tuner.counts()};
}

Result<TunerCounts> measure_problems(const StepContext& step, const Network& network,
                                     const Target& target) {
  Tuner tuner(*target.device, target.sources, *step.tuning.timings, tuner_options(step));
  CHECK_OK(tuner.measure(network));
  return tuner.counts();
}

}  // namespace enginery
