// Race: interleaved successive halving. Candidates take turns (A B C A B C ...); a probe, one fixed
// measurement, is timed before and after every round, so that drift of the device's clock is seen
// and divided out. Slow candidates drop out early. A change of the device's state affects the probe
// and the candidates differently, so a candidate's samples are taken from its ratio to the fastest
// in the same round.
//
// Knows nothing of tactics or devices: a candidate is anything that can be timed. Deterministic for
// given samples. Belongs to one thread.
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "tuner/timing/timing.h"

namespace enginery {

// What can be timed. `time_us` runs it once and returns how long it took, in microseconds; an error
// takes it out of the race, device_lost ends the race.
struct Candidate {
  std::function<Result<double>()> time_us;
  int launches = 1;  // that one call times, and returns the mean of
};

// What is known of the device since it was last asked about.
struct Throttling {
  uint64_t bits =
      0;  // why it was throttled at any time, as DeviceState::throttle_bits; 0: it was not
  bool looked = true;  // whether anything was looked at since
};

struct RaceRules {
  // Rounds before the first drop, between the drops, and after the second.
  int first_samples = 3, second_samples = 8, final_samples = 24;
  // The whole race ends earlier once all launches of the candidates have taken this long, those of
  // repeated rounds too, but not before every finalist has this many samples. No round is repeated
  // from then on.
  double max_us = std::numeric_limits<double>::infinity();
  size_t least_samples = 5;
  // Candidates slower than this times the best leave.
  double first_drop = 1.5, second_drop = 1.1;
  // A round whose probe is slower than this times its best is repeated ...
  double probe_limit = 1.25;
  // ... but only so often in one race: a busy machine must not stop it for ever.
  int max_repeats = 12;
  // Where samples scatter, the finalists run on until half the confidence interval of each is below
  // this share of its median ...
  double precise = 0.005;
  // ... below this one for those whose interval shows that they are slower, which then leave, ...
  double precise_beaten = 0.02;
  int max_extra_rounds = 80;     // ... or they have run this many rounds more,
  double max_extra_us = 60'000;  // or one launch of each a round has taken this long.
  std::function<bool()> cancelled = [] { return false; };
  // Asked after each round. What was measured since the device was last seen unthrottled is
  // forgotten and repeated, as often as max_repeats allows ...
  std::function<Throttling()> throttling = [] { return Throttling(); };
  // ... after a rest, which may last until the device is itself again.
  std::function<void()> rest = [] {};
  // Told before and after each round, and in it before and after each candidate's turn: either may
  // end the process, or never come back.
  std::function<void(std::optional<size_t> candidate, bool over)> in_flight =
      [](std::optional<size_t>, bool) {};
};

struct CandidateResult {
  // Of the fastest: its times, corrected by the probe. Of the others: their ratios to the fastest,
  // times its median.
  std::vector<double> samples_us;
  std::string failure;  // empty: none
  FailureKind failure_kind = FailureKind::unknown;
  double probe_ratio = 1;     // the probe's time over its best; the worst over the accepted samples
  double probe_us = 0;        // the probe's best, the scale of the samples
  int disturbed_samples = 0;  // taken while the device was throttled, after all repeats
  uint64_t throttle_bits = 0;  // why

  // Whether it took the device with it; no candidate was timed after it.
  bool lost_device() const { return failure_kind == FailureKind::fault; }
};

// Results parallel to `candidates`. Errors: cancelled; whatever the probe fails with.
Result<std::vector<CandidateResult>> race(const std::vector<Candidate>& candidates,
                                          const Candidate& probe, const RaceRules& rules);

}  // namespace enginery
