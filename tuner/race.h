// Race: interleaved successive halving. Lanes take turns (A B C A B C ...) beside a guard whose
// time is taken in every round, so that drift of the clock hits all alike; slow lanes drop out
// early. What a device's states do to the guard they do not quite do to others, so a lane's samples
// are taken from its ratio to the fastest in the same round.
//
// Knows nothing of tactics or devices: a lane is anything that can be timed. Deterministic for
// given samples.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tuner/timing/timing.h"

namespace enginery {

// One contender. `time_us` runs it once and says how long it took; an error takes it out of the
// race, device_lost ends the race.
struct Lane {
  std::function<Result<double>()> time_us;
};

struct RaceRules {
  int first_samples = 3, second_samples = 8, final_samples = 24;
  double first_drop = 1.5, second_drop = 1.1;  // lanes slower than this times the best leave
  double guard_limit = 1.25;  // a round whose guard is slower than this times its best is repeated
  int most_repeats = 12;      // per race: a busy machine must not stop it for ever
  // Where samples scatter: finalists run on until half the confidence interval of each is below
  // this share of its median ...
  double precise = 0.005;
  int most_extra_rounds = 80;     // ... or they have run so many rounds more,
  double most_extra_us = 60'000;  // or launches have taken so long
  std::function<bool()> cancelled = [] { return false; };
};

struct LaneResult {
  std::vector<double> samples_us;  // the fastest lane's: corrected by the guard; others': their
                                   // ratio to it, times its median
  std::string failure;
  bool lost_device = false;  // it took the device with it: nobody was timed after it
  double guard_ratio = 1;    // worst over the accepted samples
};

// Errors: cancelled; whatever the guard fails with.
Result<std::vector<LaneResult>> race(const std::vector<Lane>& lanes, const Lane& guard,
                                     const RaceRules& rules);

}  // namespace enginery
