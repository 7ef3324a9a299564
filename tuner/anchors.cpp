#include "tuner/anchors.h"

#include <algorithm>

#include "engine/base/statistics.h"

namespace enginery {
namespace {

constexpr size_t kMaxAnchors = 3;

bool is_anchor(const ProblemJob& job, size_t i) {
  return job.known[i] != nullptr;
}

// By how many times the device is slower than when the anchors were timed; 0 when none ran.
double slowness(const ProblemJob& job, const ProbeTime& probe) {
  std::vector<double> ratios;
  for (size_t i = 0; i < job.tactics.size(); ++i) {
    if (!is_anchor(job, i) || job.is_out(i) || job.samples[i].empty()) continue;
    const double before = warm_us(*job.known[i], probe);
    if (before > 0) ratios.push_back(median(job.samples[i]) / before);
  }
  return median(ratios);
}

ProbeTime known_probe(const ProblemJob& job) {
  for (const Timing* known : job.known) {
    if (known) return known->probe;
  }
  return {};
}

}  // namespace

std::vector<const Tactic*> anchors_among(const std::vector<const Tactic*>& wanted,
                                         const std::vector<Timing>& known) {
  const ProbeTime probe = common_probe(known);
  std::vector<std::pair<double, const Tactic*>> ran;
  for (const Tactic* tactic : wanted) {
    const Timing* timing = find_timing(known, tactic_key(*tactic));
    const bool fits = timing && timing->failure.empty() && !is_unrelated(*timing, probe);
    if (fits) ran.emplace_back(warm_us(*timing, probe), tactic);
  }
  std::stable_sort(ran.begin(), ran.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<const Tactic*> out;
  for (size_t i = 0; i < std::min(ran.size(), kMaxAnchors); ++i) out.push_back(ran[i].second);
  return out;
}

bool summarize_on_known_scale(ProblemJob& job) {
  const bool anchored = std::any_of(job.known.begin(), job.known.end(),
                                    [](const Timing* known) { return known != nullptr; });
  const ProbeTime probe = known_probe(job);
  const double scale = anchored ? slowness(job, probe) : 1;
  for (size_t i = 0; i < job.tactics.size(); ++i) {
    if (job.is_out(i) || is_anchor(job, i) || scale <= 0) continue;
    std::vector<double> samples = job.samples[i];
    for (double& us : samples) us /= scale;
    job.results[i].statistics = summarize(std::move(samples));
    job.results[i].cold_us = job.cold_us[i] / scale;
    if (anchored) job.results[i].probe = probe;
  }
  return scale > 0;
}

}  // namespace enginery
