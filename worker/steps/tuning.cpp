#include "worker/steps/tuning.h"

#include <chrono>

#include "pipeline/step.h"
#include "tuner/ceilings.h"
#include "worker/steps/build_eta.h"

namespace enginery {
namespace {

using std::chrono::steady_clock;

double seconds_since(steady_clock::time_point start) {
  return std::chrono::duration<double>(steady_clock::now() - start).count();
}

// The tuner's progress with the time that the whole build has left.
std::function<void(const TunerProgress&)> with_eta(const StepHooks& hooks) {
  return [&hooks, eta = BuildEta(), start = steady_clock::now()](const TunerProgress& p) mutable {
    const std::string phase = p.phase == "tune" ? doing("tune") : doing("tune") + " " + p.phase;
    hooks.progress({phase, static_cast<uint64_t>(p.done), static_cast<uint64_t>(p.total),
                    eta.seconds_left(p.phase, p.done, p.total, seconds_since(start))});
  };
}

TunerOptions tuner_options(const StepContext& step) {
  const BuildOptions& asked = step.session.options();
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
  const std::set<NodeId>& wide = step.session.beyond_float16();
  record.beyond_float16.assign(wide.begin(), wide.end());
  if (step.session.spec().options.level >= 2) {
    TRY(record.ceilings, measured_ceilings(*target.device, target.sources, *step.tuning.timings,
                                           tuner_options(step)));
  }
  double network_us = 0;
  if (step.session.is_calibrated()) {
    TRY(network_us, tuner.network_us(network, selection));
    record.in_float = step.session.arithmetic() == NetworkArithmetic::floating;
  }
  Bytes choices = to_json(record);
  return TunedNetwork{std::move(selection), std::move(choices), tuner.counts(), network_us};
}

Result<TunerCounts> measure_problems(const StepContext& step, const Network& network,
                                     const Target& target) {
  Tuner tuner(*target.device, target.sources, *step.tuning.timings, tuner_options(step));
  CHECK_OK(tuner.measure(network));
  return tuner.counts();
}

}  // namespace enginery
