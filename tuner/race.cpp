#include "tuner/race.h"

#include <algorithm>

namespace enginery {
namespace {

class Race {
 public:
  Race(const std::vector<Candidate>& candidates, const Candidate& probe, const RaceRules& rules)
      : candidates_(candidates), probe_(probe), rules_(rules), results_(candidates.size()) {
    for (size_t i = 0; i < candidates.size(); ++i) running_.push_back(i);
  }

  Result<std::vector<CandidateResult>> run() {
    CHECK_OK(rounds(rules_.first_samples));
    drop(rules_.first_drop);
    CHECK_OK(rounds(rules_.second_samples));
    drop(rules_.second_drop);
    CHECK_OK(rounds(rules_.final_samples));
    const double until_us = launched_us_ + rules_.max_extra_us;
    for (int extra = 0; extra < rules_.max_extra_rounds && launched_us_ < until_us && !precise();
         extra += rules_.second_samples) {
      CHECK_OK(rounds(rules_.second_samples));
    }
    relate_to_fastest();
    return std::move(results_);
  }

 private:
  Status rounds(int count) {
    for (int r = 0; r < count && !running_.empty(); ++r) CHECK_OK(round());
    return {};
  }

  // One turn of every running candidate between two probes; repeated when the probe shows that the
  // machine was disturbed.
  Status round() {
    while (true) {
      if (rules_.cancelled()) return Error{ErrorCode::cancelled, "measuring was cancelled"};
      TRY(double before, probe_.time_us());
      std::vector<double> times;
      for (const size_t index : running_) {
        auto us = candidates_[index].time_us();
        if (!us && us.error().code == ErrorCode::device_lost) {
          fail(index, us.error());
          running_.clear();
          return {};
        }
        if (!us) fail(index, us.error());
        times.push_back(us ? *us : 0);
      }
      TRY(double after, probe_.time_us());
      double level = std::max(before, after);
      best_probe_ =
          best_probe_ == 0 ? std::min(before, after) : std::min({best_probe_, before, after});
      bool disturbed = level > rules_.probe_limit * best_probe_;
      if (disturbed && repeats_ < rules_.max_repeats) {
        ++repeats_;
        remove_failed();
        continue;
      }
      accept(times, (before + after) / 2 / best_probe_);
      return {};
    }
  }

  void fail(size_t index, const Error& error) {
    results_[index].failure = error.message;
    results_[index].failure_kind = failure_kind(error, FailureKind::launch);
  }

  void accept(const std::vector<double>& times, double drift) {
    for (double us : times) launched_us_ += us;
    for (size_t i = 0; i < running_.size(); ++i) {
      CandidateResult& result = results_[running_[i]];
      if (!result.failure.empty()) continue;
      result.samples_us.push_back(times[i] / drift);
      result.probe_ratio = std::max(result.probe_ratio, drift);
    }
    remove_failed();
  }

  void remove_failed() {
    std::erase_if(running_, [&](size_t index) { return !results_[index].failure.empty(); });
  }

  void drop(double limit) {
    if (running_.empty()) return;
    const double best = median_us(fastest());
    std::erase_if(running_, [&](size_t index) { return median_us(index) > limit * best; });
  }

  double median_us(size_t index) const { return summarize(results_[index].samples_us).median_us; }

  // Of those that still run; there must be one.
  size_t fastest() const {
    return *std::min_element(running_.begin(), running_.end(),
                             [&](size_t a, size_t b) { return median_us(a) < median_us(b); });
  }

  // Of the fastest its own time, of those close to it the ratio.
  bool precise() const {
    if (running_.empty()) return true;
    const size_t best = fastest();
    const std::vector<double>& leader = results_[best].samples_us;
    return std::all_of(running_.begin(), running_.end(), [&](size_t index) {
      std::vector<double> samples = results_[index].samples_us;
      for (size_t k = 0; k < samples.size() && index != best; ++k) samples[k] /= leader[k];
      const TimingStatistics s = summarize(std::move(samples));
      return (s.high_us - s.low_us) / 2 <= rules_.precise * s.median_us;
    });
  }

  // Sample k of every candidate was taken in round k: candidates only ever leave.
  void relate_to_fastest() {
    if (running_.empty()) return;
    const size_t best = fastest();
    const CandidateResult& leader = results_[best];
    const double least = median_us(best);
    if (least <= 0) return;
    for (CandidateResult& result : results_) {
      if (&result == &leader) continue;
      for (size_t k = 0; k < result.samples_us.size(); ++k)
        result.samples_us[k] *= least / leader.samples_us[k];
    }
  }

  const std::vector<Candidate>& candidates_;
  const Candidate& probe_;
  const RaceRules& rules_;
  std::vector<CandidateResult> results_;
  std::vector<size_t> running_;
  double best_probe_ = 0;
  int repeats_ = 0;
  double launched_us_ = 0;  // in accepted rounds, one launch of each candidate
};

}  // namespace

Result<std::vector<CandidateResult>> race(const std::vector<Candidate>& candidates,
                                          const Candidate& probe, const RaceRules& rules) {
  return Race(candidates, probe, rules).run();
}

}  // namespace enginery
