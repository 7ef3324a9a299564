// The agent's TimingStore for one step: asks the farm for the timings of each problem when the
// tuner first comes to it, and hands each new one on at once, so that a runner that dies has lost
// nothing and the next one knows what it measured, coordinator or not. Thread-safe.
#pragma once

#include <functional>

#include "schemas/messages.h"
#include "tuner/timing/timing.h"
#include "worker/runner/runner_messages.h"

namespace enginery {

class FarmTimingStore final : public TimingStore {
 public:
  using Fetch =
      std::function<std::vector<TimingEntry>(const Digest& device, const Digest& problem)>;
  using Send = std::function<void(const RunnerTiming&)>;
  // `fetch` reads what the farm knows of a problem on a device, once; `send` hands on what is
  // measured.
  FarmTimingStore(Fetch fetch, Send send) : fetch_(std::move(fetch)), send_(std::move(send)) {}

  Result<std::vector<Timing>> find(const std::string& device, const std::string& problem) override;
  Status put(const std::string& device, const std::string& problem, const Timing& timing) override;

 private:
  using Tactics = std::map<std::string, Timing>;  // by tactic
  Tactics& problem_locked(const std::string& device, const std::string& problem);

  const Fetch fetch_;
  const Send send_;
  std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, Tactics> known_;  // by device and problem
};

}  // namespace enginery
