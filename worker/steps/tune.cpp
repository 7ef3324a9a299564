#include <chrono>
#include <cstdio>

#include "tuner/analytic_choice.h"
#include "tuner/tuner.h"
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

// Rounding to 8 bits costs accuracy: it has to gain more than two races of one network differ by.
constexpr double kWorthwhile = 0.97;

// The networks of a calibrated model, the quantised one last; of any other model its only one.
std::vector<NetworkArithmetic> networks_of(const BuildSession& session) {
  if (!session.is_calibrated()) return {NetworkArithmetic::quantized};
  return {NetworkArithmetic::floating, NetworkArithmetic::quantized};
}

void add(const TunerCounts& more, TunerCounts& sum) {
  sum.timings_measured += more.timings_measured;
  sum.timings_reused += more.timings_reused;
  sum.problems += more.problems;
  sum.preparing_s += more.preparing_s;
  sum.checking_s += more.checking_s;
  sum.racing_s += more.racing_s;
  sum.networks_s += more.networks_s;
}

void log_arithmetic(const StepContext& step, double float_us, double quantized_us) {
  char line[120];
  std::snprintf(line, sizeof line, "in float %.3f ms, in int8 %.3f ms: %s", float_us / 1e3,
                quantized_us / 1e3,
                step.session.arithmetic() == NetworkArithmetic::quantized ? "int8" : "float");
  step.hooks.log(line);
}

// Those that are tuned. Levels that race no networks compare them by estimates: they tune the
// likely faster one alone.
Result<std::vector<NetworkArithmetic>> tuned_networks(const StepContext& step,
                                                      const Target& target) {
  const std::vector<NetworkArithmetic> all = networks_of(step.session);
  if (all.size() < 2 || step.session.options().level >= kCoverLevel) return all;
  std::vector<double> us;
  for (const NetworkArithmetic arithmetic : all) {
    step.session.take(arithmetic);
    TRY(const Network* network, step.session.network());
    TRY(const TacticSelection selection, analytic_cover(*network, target.sources));
    us.push_back(estimated_us(selection));
  }
  const bool quantized = us.back() <= kWorthwhile * us.front();
  return std::vector{quantized ? NetworkArithmetic::quantized : NetworkArithmetic::floating};
}

// Of a calibrated model's networks the faster one; the session is about it from then on.
Result<TunedNetwork> choose(const StepContext& step, const Target& target) {
  std::vector<TunedNetwork> tuned;
  TunerCounts counts;
  TRY(const std::vector<NetworkArithmetic> networks, tuned_networks(step, target));
  for (const NetworkArithmetic arithmetic : networks) {
    step.session.take(arithmetic);
    TRY(const Network* network, step.session.network());
    TRY(TunedNetwork one, choose_tactics(step, *network, target));
    add(one.counts, counts);
    tuned.push_back(std::move(one));
  }
  if (tuned.size() == 2) {
    const double float_us = tuned[0].network_us, quantized_us = tuned[1].network_us;
    if (quantized_us > kWorthwhile * float_us) {
      step.session.take(NetworkArithmetic::floating);
      tuned.pop_back();
    }
    log_arithmetic(step, float_us, quantized_us);
  }
  tuned.back().counts = counts;
  return std::move(tuned.back());
}

Result<TunerCounts> assist(const StepContext& step, const Target& target) {
  TunerCounts counts;
  TRY(const std::vector<NetworkArithmetic> networks, tuned_networks(step, target));
  for (const NetworkArithmetic arithmetic : networks) {
    step.session.take(arithmetic);
    TRY(const Network* network, step.session.network());
    TRY(const TunerCounts one, measure_problems(step, *network, target));
    add(one, counts);
  }
  return counts;
}

// Its counts, and the choices where this worker leads the tuning.
Result<TunerCounts> tune(const StepContext& step, const Target& target, StepOutputs& out) {
  if (step.tuning.assistant > 0) return assist(step, target);
  TRY(TunedNetwork tuned, choose(step, target));
  out.blobs["choices"] = to_blob(std::move(tuned.choices));
  if (step.session.arithmetic() == NetworkArithmetic::floating)
    out.facts.push_back({"tune_notes", kFloatIsFaster});
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
  const auto start = std::chrono::steady_clock::now();
  StepOutputs out;
  TRY(const TunerCounts counts, tune(step, *target, out));
  out.metrics = metrics_of(
      counts, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  step.hooks.log((step.tuning.assistant > 0 ? "measured for another worker; of " : "tuned ") +
                 std::to_string(counts.problems) +
                 " problems: " + std::to_string(counts.timings_measured) + " timings measured, " +
                 std::to_string(counts.timings_reused) + " reused");
  return out;
}

}  // namespace enginery
