// CompileAhead: compiles what the tactics of all problems need, on other threads than the timing's.
//
// Where: the tuner starts it before it times the first problem. Compilations that would disturb a
// measurement come first, and the tuner waits for them; the others go on, in their order, while
// earlier problems are timed. Errors are not reported here: they come again when a tactic is
// prepared. Threads: owned by the tuner's thread; its own end with it.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/tactics/tactic.h"

namespace enginery {

class CompileAhead {
 public:
  struct Job {
    const Problem* problem;
    const Tactic* tactic;
  };
  // Called before (`over` false) and after each compilation, from any thread.
  using InFlight = std::function<void(const Job&, bool over)>;
  // Starts at once. Everything borrowed must outlive it, the jobs' problems and tactics included.
  CompileAhead(const TacticSources& sources, std::vector<Job> jobs, InFlight in_flight);
  // Waits for the compilations that have begun; the others are dropped.
  ~CompileAhead();

  // Waits until nothing that is left would disturb a measurement. False when cancelled.
  bool wait(const std::function<void(int done, int total)>& progress,
            const std::function<bool()>& cancelled);

 private:
  void take_jobs();
  const TacticSources& sources_;
  std::vector<Job> jobs_;
  const InFlight in_flight_;
  size_t first_ = 0;  // how many jobs, at the front, must not run beside a measurement
  std::mutex mutex_;
  std::condition_variable ended_;
  size_t next_ = 0, first_done_ = 0;
  std::vector<std::jthread> threads_;
};

}  // namespace enginery
