// The runner's TimingStore: asks the agent once for the farm's timings of the device, and says each new one at once, so that a
// runner that dies has lost nothing. Thread-safe.
#pragma once

#include <functional>

#include "engine/base/digest.h"
#include "tuner/timing.h"
#include "worker/runner_messages.h"

namespace enginery {

class PipeTimingStore final : public TimingStore {
 public:
  using Fetch = std::function<Result<std::vector<KnownTiming>>(const std::string& device)>;
  using Say = std::function<Status(const RunnerTiming&)>;
  PipeTimingStore(Fetch fetch, Say say) : fetch_(std::move(fetch)), say_(std::move(say)) {}

  Result<std::vector<Timing>> find(const std::string& device, const std::string& problem) override;
  Status put(const std::string& device, const std::string& problem, const Timing& timing) override;

 private:
  using Problems = std::map<Digest, std::map<std::string, Timing>>;  // by problem, then tactic
  Result<Problems*> device_locked(const std::string& device);

  const Fetch fetch_;
  const Say say_;
  std::mutex mutex_;
  std::map<std::string, Problems> devices_;
};

}  // namespace enginery
