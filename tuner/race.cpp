#include "tuner/race.h"

#include <algorithm>

namespace enginery {
namespace {

class Race {
 public:
  Race(const std::vector<Lane>& lanes, const Lane& guard, const RaceRules& rules)
      : lanes_(lanes), guard_(guard), rules_(rules), results_(lanes.size()) {
    for (size_t i = 0; i < lanes.size(); ++i) running_.push_back(i);
  }

  Result<std::vector<LaneResult>> run() {
    CHECK_OK(rounds(rules_.first_samples));
    drop(rules_.first_drop);
    CHECK_OK(rounds(rules_.second_samples));
    drop(rules_.second_drop);
    CHECK_OK(rounds(rules_.final_samples));
    const double until_us = launched_us_ + rules_.most_extra_us;
    for (int extra = 0; extra < rules_.most_extra_rounds && launched_us_ < until_us && !precise();
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

  // One turn of every running lane between two guards; repeated when the guard says that the
  // machine was disturbed.
  Status round() {
    while (true) {
      if (rules_.cancelled()) return Error{ErrorCode::cancelled, "measuring was cancelled"};
      TRY(double before, guard_.time_us());
      std::vector<double> times;
      for (size_t lane : running_) {
        auto us = lanes_[lane].time_us();
        if (!us && us.error().code == ErrorCode::device_lost) return end_with(lane, us.error());
        if (!us) results_[lane].failure = us.error().message;
        times.push_back(us ? *us : 0);
      }
      TRY(double after, guard_.time_us());
      double level = std::max(before, after);
      best_guard_ =
          best_guard_ == 0 ? std::min(before, after) : std::min({best_guard_, before, after});
      bool disturbed = level > rules_.guard_limit * best_guard_;
      if (disturbed && repeats_ < rules_.most_repeats) {
        ++repeats_;
        remove_failed();
        continue;
      }
      accept(times, (before + after) / 2 / best_guard_);
      return {};
    }
  }

  Status end_with(size_t lane, const Error& lost) {
    results_[lane].failure = lost.message;
    results_[lane].lost_device = true;
    running_.clear();
    return {};
  }

  void accept(const std::vector<double>& times, double drift) {
    for (double us : times) launched_us_ += us;
    for (size_t i = 0; i < running_.size(); ++i) {
      LaneResult& result = results_[running_[i]];
      if (!result.failure.empty()) continue;
      result.samples_us.push_back(times[i] / drift);
      result.guard_ratio = std::max(result.guard_ratio, drift);
    }
    remove_failed();
  }

  void remove_failed() {
    std::erase_if(running_, [&](size_t lane) { return !results_[lane].failure.empty(); });
  }

  void drop(double limit) {
    if (running_.empty()) return;
    const double best = median_us(fastest());
    std::erase_if(running_, [&](size_t lane) { return median_us(lane) > limit * best; });
  }

  double median_us(size_t lane) const { return summarize(results_[lane].samples_us).median_us; }

  // Of those that still run, of which there must be one.
  size_t fastest() const {
    return *std::min_element(running_.begin(), running_.end(),
                             [&](size_t a, size_t b) { return median_us(a) < median_us(b); });
  }

  // Of the fastest its own time, of those close to it the ratio.
  bool precise() const {
    if (running_.empty()) return true;
    const size_t best = fastest();
    const std::vector<double>& leader = results_[best].samples_us;
    return std::all_of(running_.begin(), running_.end(), [&](size_t lane) {
      std::vector<double> samples = results_[lane].samples_us;
      for (size_t k = 0; k < samples.size() && lane != best; ++k) samples[k] /= leader[k];
      const TimingStatistics s = summarize(std::move(samples));
      return (s.high_us - s.low_us) / 2 <= rules_.precise * s.median_us;
    });
  }

  // Sample k of every lane was taken in round k: lanes only ever leave.
  void relate_to_fastest() {
    if (running_.empty()) return;
    const size_t best = fastest();
    const LaneResult& leader = results_[best];
    const double least = median_us(best);
    if (least <= 0) return;
    for (LaneResult& result : results_) {
      if (&result == &leader) continue;
      for (size_t k = 0; k < result.samples_us.size(); ++k)
        result.samples_us[k] *= least / leader.samples_us[k];
    }
  }

  const std::vector<Lane>& lanes_;
  const Lane& guard_;
  const RaceRules& rules_;
  std::vector<LaneResult> results_;
  std::vector<size_t> running_;
  double best_guard_ = 0;
  int repeats_ = 0;
  double launched_us_ = 0;  // in accepted rounds, one launch of each lane
};

}  // namespace

Result<std::vector<LaneResult>> race(const std::vector<Lane>& lanes, const Lane& guard,
                                     const RaceRules& rules) {
  return Race(lanes, guard, rules).run();
}

}  // namespace enginery
