#include "worker/agent/step_bench.h"

namespace enginery {

StepBench::StepBench(std::chrono::milliseconds patience)
    : patience_(patience), thread_([this] { serve(); }) {}

StepBench::~StepBench() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void StepBench::begin(Work work) {
  {
    const std::lock_guard lock(mutex_);
    work_ = std::move(work);
  }
  changed_.notify_all();
}

void StepBench::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !work_; });
}

void StepBench::serve() {
  KeptRunner kept;
  std::unique_lock lock(mutex_);
  while (true) {
    const auto is_called = [this] { return work_ || ends_; };
    if (!kept.process)
      changed_.wait(lock, is_called);
    else if (!changed_.wait_for(lock, patience_, is_called))
      kept = {};
    if (work_) {
      lock.unlock();
      work_(kept);
      lock.lock();
      work_ = nullptr;
      changed_.notify_all();
    } else if (ends_) {
      return;
    }
  }
}

}  // namespace enginery
