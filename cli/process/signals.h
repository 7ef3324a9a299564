// What the process does when it is asked to end: an Interrupt turns Ctrl-C into a question that a
// loop asks, a Termination turns SIGTERM into a call that stops a service.
//
// Where: `build`, `logs` and everything that follows a job use Interrupt; `coordinator` and
// `worker` use Termination. Threads: said at each class; the two are never used in one process.
#pragma once

#include <functional>
#include <thread>

namespace enginery {

// While one of these lives, the first SIGINT or SIGTERM only sets a flag, and the second one ends
// the process at once. Threads: made on the main thread, one at a time; requested() may be asked
// from any thread.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();  // restores the default: the next signal ends the process
  Interrupt(const Interrupt&) = delete;

  // Whether a signal has arrived since this object was made.
  bool requested() const;
};

// Blocks SIGINT, SIGTERM and SIGHUP in the calling thread and in all threads that it starts later,
// so that only a Termination receives them. Call it before the first thread is started.
void block_termination_signals();

// A thread that waits for the blocked signals and calls `stop` at the first of them; a second
// signal ends the process with 128 + its number. Threads: `stop` runs on the watching thread.
class Termination {
 public:
  explicit Termination(std::function<void()> stop);
  ~Termination();  // ends the watching thread; `stop` is not called any more
  Termination(const Termination&) = delete;

 private:
  std::thread watcher_;
};

}  // namespace enginery
