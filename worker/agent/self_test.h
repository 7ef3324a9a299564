// The self-test of a worker that the coordinator has quarantined: its disk, and in a runner its
// device and memory.
//
// Where: the agent begins it when it is told to (Examine) and says in its next Sync how it went.
// Runs on a thread of its own, so that the agent goes on speaking; belongs to the agent's thread.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "worker/runner/runner_process.h"

namespace enginery {

class SelfTest {
 public:
  struct Subject {
    RunnerCommand runner;
    std::string sku;
    uint64_t memory_bytes = 0;        // the runner's limit
    std::filesystem::path data;       // the worker's folder
    std::chrono::seconds limit{300};  // a device that takes longer hangs
  };
  // `number` is the coordinator's; `changed` is called from the thread when it has ended.
  SelfTest(uint64_t number, Subject subject, std::function<void()> changed);
  // Gives up.
  ~SelfTest();

  uint64_t number() const { return number_; }
  // What it found, "" when all is well; nothing while it runs.
  std::optional<std::string> problem() const;

 private:
  Status examine();

  const uint64_t number_;
  const Subject subject_;
  const std::function<void()> changed_;
  mutable std::mutex mutex_;
  bool stop_ = false;
  std::optional<std::string> problem_;
  std::thread thread_;  // last: it uses all of the above
};

// Whether the folder takes a file and gives it back. storage: what is wrong with it.
Status test_disk(const std::filesystem::path& folder);

}  // namespace enginery
