// The runner's TimingStore: whoever started it keeps the timings; each is asked for, and said as
// soon as it is measured, so that a runner that dies has lost nothing. Thread-safe.
#pragma once

#include <mutex>

#include "tuner/timing/timing.h"
#include "worker/runner/line_pipe.h"

namespace enginery {

class PipeTimingStore final : public TimingStore {
 public:
  // Both outlive the store, and no other reader uses `in_fd`.
  PipeTimingStore(int in_fd, LineBuffer& lines, LineWriter& out)
      : in_fd_(in_fd), lines_(lines), out_(out) {}

  Result<std::vector<Timing>> find(const std::string& device, const std::string& problem) override;
  Status put(const std::string& device, const std::string& problem, const Timing& timing) override;
  Result<Taking> take(const std::string& device, const std::string& problem, int left) override;

 private:
  const int in_fd_;
  std::mutex mutex_;  // a question and its answer
  LineBuffer& lines_;
  LineWriter& out_;
};

}  // namespace enginery
