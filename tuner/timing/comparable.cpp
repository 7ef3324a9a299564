#include "tuner/timing/comparable.h"

#include <algorithm>

#include "engine/base/statistics.h"

namespace enginery {
namespace {

bool is_the_same(const ProbeTime& a, const ProbeTime& b) {
  return a.us > 0 && b.us > 0 && a.tactic == b.tactic;
}

double scale_of(const Timing& timing, const ProbeTime& probe) {
  return is_the_same(timing.probe, probe) ? probe.us / timing.probe.us : 1;
}

// A tactic that loses (or gains) more than the others in cold caches: by so much more than what may
// be the one lab's.
double beyond_a_lab(double share) {
  if (share > kLabsDiffer) return share / kLabsDiffer;
  return share < 1 / kLabsDiffer ? share * kLabsDiffer : 1;
}

}  // namespace

std::vector<double> deciding_us(const std::vector<double>& warm, const std::vector<double>& cold) {
  std::vector<double> ratios;
  for (size_t i = 0; i < warm.size(); ++i) {
    if (cold[i] > 0 && warm[i] > 0 && warm[i] < kInfinity) ratios.push_back(cold[i] / warm[i]);
  }
  if (ratios.empty()) return warm;
  const double longer = median(ratios);
  std::vector<double> out;
  for (size_t i = 0; i < warm.size(); ++i) {
    const bool is_cold = cold[i] > 0 && warm[i] > 0 && warm[i] < kInfinity;
    const double as_others = warm[i] * longer;
    out.push_back(is_cold ? as_others * beyond_a_lab(cold[i] / as_others) : as_others);
  }
  return out;
}

ProbeTime common_probe(const std::vector<Timing>& timings) {
  const auto found = std::find_if(timings.begin(), timings.end(), [](const Timing& t) {
    return t.failure.empty() && t.probe.us > 0;
  });
  return found == timings.end() ? ProbeTime() : found->probe;
}

double warm_us(const Timing& timing, const ProbeTime& probe) {
  if (!timing.failure.empty()) return kInfinity;
  return timing.statistics.median_us * scale_of(timing, probe);
}

bool is_unrelated(const Timing& timing, const ProbeTime& probe) {
  return timing.failure.empty() && probe.us > 0 && !is_the_same(timing.probe, probe);
}

std::vector<double> comparable_us(const std::vector<Timing>& timings) {
  const ProbeTime probe = common_probe(timings);
  std::vector<double> warm, cold;
  for (const Timing& t : timings) {
    warm.push_back(warm_us(t, probe));
    cold.push_back(t.failure.empty() ? t.cold_us * scale_of(t, probe) : 0);
  }
  return deciding_us(warm, cold);
}

}  // namespace enginery
