// KnownFailures: which tactics the timing store has as failed, for who chooses without measuring.
//
// Where: analytic_choice leaves them alone; a worker's steps look at the tactics that an engine is
// made of. Failures that are due again (expiry.h) do not count where the store lets tactics be
// tried. Remembers what it asked. Belongs to one thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tuner/timing/expiry.h"

namespace enginery {

class KnownFailures {
 public:
  // `store` outlives it. `device`: device_key. `unix_seconds`: the time of asking.
  KnownFailures(TimingStore& store, std::string device, double unix_seconds)
      : store_(store), device_(std::move(device)), unix_seconds_(unix_seconds) {}

  // Why the tactic failed; "": it did not, as far as is known. Errors: those of the store.
  Result<std::string> of(const std::string& problem, const std::string& tactic) {
    auto known = problems_.find(problem);
    if (known == problems_.end()) {
      TRY(auto timings, store_.find(device_, problem));
      known = problems_.emplace(problem, std::move(timings)).first;
    }
    const Timing* timing = find_timing(known->second, tactic);
    if (!timing) return std::string();
    const bool is_tried_again =
        is_due_again(*timing, unix_seconds_) && store_.admit_miss(device_, problem, tactic).ok();
    return is_tried_again ? std::string() : timing->failure;
  }

 private:
  TimingStore& store_;
  const std::string device_;
  const double unix_seconds_;
  std::map<std::string, std::vector<Timing>> problems_;
};

}  // namespace enginery
