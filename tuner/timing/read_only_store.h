// ReadOnlyTimingStore: another store's timings, and nothing measured beyond them. A tuner over it
// fails with not_found where it would measure (`--error-on-timing-cache-miss`).
//
// Thread-safe where the other store is.
#pragma once

#include "tuner/timing/timing.h"

namespace enginery {

class ReadOnlyTimingStore final : public TimingStore {
 public:
  // `store` outlives this one.
  explicit ReadOnlyTimingStore(TimingStore& store) : store_(store) {}

  Result<std::vector<Timing>> find(const std::string& device, const std::string& problem) override {
    return store_.find(device, problem);
  }
  // Errors: not_found, always: there is nothing to keep where nothing is measured.
  Status put(const std::string& device, const std::string& problem, const Timing& timing) override {
    return admit_miss(device, problem, timing.tactic);
  }
  Status admit_miss(const std::string& device, const std::string& problem,
                    const std::string& tactic) override {
    (void)device;
    return Error{ErrorCode::not_found,
                 "the timing cache has no entry for " + tactic + " on: " + problem};
  }

 private:
  TimingStore& store_;
};

}  // namespace enginery
