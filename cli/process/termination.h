// Ending a service when the process is asked to: SIGTERM and SIGINT call a function on a thread of
// their own.
#pragma once

#include <functional>
#include <thread>

namespace enginery {

// Make it before any other thread starts, so that all of them inherit the blocked signals; it is
// not copyable.
class Termination {
 public:
  // `stop` is called once, on the watching thread, at the first signal; a second signal ends the
  // process.
  explicit Termination(std::function<void()> stop);
  ~Termination();
  Termination(const Termination&) = delete;

 private:
  std::thread watcher_;
};

// Blocks the signals in the calling thread and all that it will start.
void block_termination_signals();

}  // namespace enginery
