// StepBench: what a worker keeps from one step of a build to the next: the thread that works on its
// steps, and the runner that did the last one, with the locked device. So the steps after the
// tuning open the device and read the model once.
//
// Where: the agent has one, and each StepRun works on it. The kernel ends a runner with the thread
// that started it: so the thread is the bench's, and not the step's. Threads: its members are
// called from its owner's thread; the work and what is kept belong to its own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "engine/base/digest.h"
#include "worker/runner/device_wait.h"
#include "worker/runner/runner_process.h"

namespace enginery {

// A runner that waits for the next step of its build.
struct KeptRunner {
  Digest build;                                      // the engine's key
  DeviceLock lock = DeviceLock::held_elsewhere();    // as long as the runner lives
  std::unique_ptr<RunnerProcess> process = nullptr;  // null: none is kept
};

class StepBench {
 public:
  using Work = std::function<void(KeptRunner&)>;
  // The coordinator says what is next a few milliseconds after a step has ended; a device that is
  // locked for longer is one that others wait for.
  static constexpr std::chrono::milliseconds kPatience{2000};

  explicit StepBench(std::chrono::milliseconds patience = kPatience);
  // Waits for the work; ends the runner that is kept.
  ~StepBench();
  StepBench(const StepBench&) = delete;

  // Has the work done. One at a time: what was begun before is over (wait).
  void begin(Work work);
  void wait();

 private:
  void serve();

  const std::chrono::milliseconds patience_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Work work_;  // empty: there is none
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace enginery
