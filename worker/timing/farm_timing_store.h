// The agent's TimingStore for one step: asks the farm for the timings of each problem when the
// tuner first comes to it, and hands each new one on at once, so that a runner that dies has lost
// nothing and the next one knows what it measured, coordinator or not. Where other workers share
// the tuning, it asks each time, since they measure meanwhile. Thread-safe.
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
  using Take = std::function<Taking(const Digest& problem, int left)>;
  // `fetch` reads what the farm knows of a problem on a device; `send` hands on what is measured;
  // `take` asks whether this step may measure a problem now.
  FarmTimingStore(
      Fetch fetch, Send send, Take take = [](const Digest&, int) { return Taking(); })
      : fetch_(std::move(fetch)), send_(std::move(send)), take_(std::move(take)) {}

  Result<std::vector<Timing>> find(const std::string& device, const std::string& problem) override;
  Status put(const std::string& device, const std::string& problem, const Timing& timing) override;
  Result<Taking> take(const std::string& device, const std::string& problem, int left) override;

 private:
  using Tactics = std::map<std::string, Timing>;  // by tactic
  Tactics& problem_locked(const std::string& device, const std::string& problem);

  const Fetch fetch_;
  const Send send_;
  const Take take_;
  std::mutex mutex_;
  bool is_shared_ = false;
  std::map<std::pair<std::string, std::string>, Tactics> known_;  // by device and problem
};

}  // namespace enginery
