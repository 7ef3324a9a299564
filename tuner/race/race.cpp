#include "tuner/race/race.h"

#include <algorithm>

namespace enginery {
namespace {

// Says that a turn or a round is in flight as long as it lives.
class TurnInFlight {
 public:
  TurnInFlight(const RaceRules& rules, std::optional<size_t> candidate)
      : rules_(rules), candidate_(candidate) {
    rules_.in_flight(candidate_, false);
  }
  ~TurnInFlight() { rules_.in_flight(candidate_, true); }
  TurnInFlight(const TurnInFlight&) = delete;

 private:
  const RaceRules& rules_;
  const std::optional<size_t> candidate_;
};

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
    for (int extra = 0;
         extra < rules_.max_extra_rounds && launched_us_ < until_us && !is_over_time();
         extra += rules_.second_samples) {
      drop_beaten();
      if (precise()) break;
      CHECK_OK(rounds(rules_.second_samples));
    }
    relate_to_fastest();
    for (CandidateResult& result : results_) result.probe_us = best_probe_;
    return std::move(results_);
  }

 private:
  Status rounds(int count) {
    wanted_ += static_cast<size_t>(count);
    while (accepted_ < wanted_ && !running_.empty() && !is_over_time()) CHECK_OK(round());
    return {};
  }

  bool is_over_time() const { return is_time_up() && accepted_ >= rules_.least_samples; }
  bool is_time_up() const { return spent_us_ > rules_.max_us; }

  // One turn of every running candidate between two probes. Not accepted, and so to be repeated,
  // when the probe or the device's own word shows that the machine was disturbed.
  Status round() {
    if (rules_.cancelled()) return Error{ErrorCode::cancelled, "measuring was cancelled"};
    const TurnInFlight whole(rules_, std::nullopt);
    TRY(double before, probe_.time_us());
    std::vector<double> times;
    for (const size_t index : running_) {
      auto us = turn_of(index);
      if (!us && us.error().code == ErrorCode::device_lost) {
        fail(index, us.error());
        running_.clear();
        return {};
      }
      if (!us) fail(index, us.error());
      times.push_back(us ? *us : 0);
      spent_us_ += times.back() * candidates_[index].launches;
    }
    TRY(double after, probe_.time_us());
    const Throttling throttling = rules_.throttling();
    const bool may_repeat = repeats_ < rules_.max_repeats && !is_time_up();
    if (throttling.bits != 0 && may_repeat) {
      ++repeats_;
      forget_unconfirmed();
      rules_.rest();
      return {};
    }
    double level = std::max(before, after);
    best_probe_ =
        best_probe_ == 0 ? std::min(before, after) : std::min({best_probe_, before, after});
    if (level > rules_.probe_limit * best_probe_ && may_repeat) {
      ++repeats_;
      remove_failed();
      return {};
    }
    accept(times, (before + after) / 2 / best_probe_, throttling.bits);
    if (throttling.looked) confirmed_ = accepted_;
    return {};
  }

  // The rounds since the device was last seen to be itself, and who left in them is back.
  void forget_unconfirmed() {
    std::vector<size_t> back;
    for (size_t i = 0; i < results_.size(); ++i) {
      std::vector<double>& samples = results_[i].samples_us;
      const bool took_part = samples.size() > confirmed_ || is_running(i);
      if (took_part && results_[i].failure.empty()) back.push_back(i);
      samples.resize(std::min(samples.size(), confirmed_));
    }
    running_ = std::move(back);
    accepted_ = confirmed_;
  }

  bool is_running(size_t index) const {
    return std::find(running_.begin(), running_.end(), index) != running_.end();
  }

  Result<double> turn_of(size_t index) {
    const TurnInFlight turn(rules_, index);
    return candidates_[index].time_us();
  }

  void fail(size_t index, const Error& error) {
    results_[index].failure = error.message;
    results_[index].failure_kind = failure_kind(error, FailureKind::launch);
  }

  void accept(const std::vector<double>& times, double drift, uint64_t throttle_bits) {
    ++accepted_;
    for (double us : times) launched_us_ += us;
    for (size_t i = 0; i < running_.size(); ++i) {
      CandidateResult& result = results_[running_[i]];
      if (!result.failure.empty()) continue;
      result.samples_us.push_back(times[i] / drift);
      result.probe_ratio = std::max(result.probe_ratio, drift);
      result.disturbed_samples += throttle_bits != 0 ? 1 : 0;
      result.throttle_bits |= throttle_bits;
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
    return std::ranges::all_of(running_, [&](size_t index) {
      const TimingStatistics s = related_to(best, index);
      return half_interval(s) <= rules_.precise * s.median_us;
    });
  }

  // Those that are slower beyond doubt, once that is known well enough to weigh them against what
  // another layout saves.
  void drop_beaten() {
    if (running_.empty()) return;
    const size_t best = fastest();
    std::erase_if(running_, [&](size_t index) {
      return index != best && is_beaten(related_to(best, index));
    });
  }
  bool is_beaten(const TimingStatistics& ratio) const {
    return ratio.low_us > 1 + rules_.precise &&
           half_interval(ratio) <= rules_.precise_beaten * ratio.median_us;
  }

  // A candidate's samples in terms of the fastest's; its own times of that one.
  TimingStatistics related_to(size_t best, size_t index) const {
    std::vector<double> samples = results_[index].samples_us;
    const std::vector<double>& leader = results_[best].samples_us;
    for (size_t k = 0; k < samples.size() && index != best; ++k) samples[k] /= leader[k];
    return summarize(std::move(samples));
  }
  static double half_interval(const TimingStatistics& s) { return (s.high_us - s.low_us) / 2; }

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
  size_t wanted_ = 0, accepted_ = 0;  // rounds
  size_t confirmed_ = 0;    // of the accepted: up to which the device was seen to be itself
  double launched_us_ = 0;  // in accepted rounds, one launch of each candidate
  double spent_us_ = 0;     // in all rounds, all launches
};

}  // namespace

Result<std::vector<CandidateResult>> race(const std::vector<Candidate>& candidates,
                                          const Candidate& probe, const RaceRules& rules) {
  return Race(candidates, probe, rules).run();
}

}  // namespace enginery
