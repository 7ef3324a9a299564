// KnownFailures: which tactics the timing store has as failed, for who chooses without measuring.
//
// Where: analytic_choice leaves them alone; a worker's steps look at the tactics that an engine is
// made of. Remembers what it asked. Belongs to one thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tuner/timing/timing.h"

namespace enginery {

class KnownFailures {
 public:
  // `store` outlives it. `device`: device_key.
  KnownFailures(TimingStore& store, std::string device)
      : store_(store), device_(std::move(device)) {}

  // Why the tactic failed; "": it did not, as far as is known. Errors: those of the store.
  Result<std::string> of(const std::string& problem, const std::string& tactic) {
    auto known = problems_.find(problem);
    if (known == problems_.end()) {
      TRY(auto timings, store_.find(device_, problem));
      known = problems_.emplace(problem, std::move(timings)).first;
    }
    const Timing* timing = find_timing(known->second, tactic);
    return timing ? timing->failure : std::string();
  }

 private:
  TimingStore& store_;
  const std::string device_;
  std::map<std::string, std::vector<Timing>> problems_;
};

}  // namespace enginery
