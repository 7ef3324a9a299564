// CompileAhead: compiles what the tactics of all problems need, on other threads than the timing's.
//
// What must not run beside a measurement comes first; the rest goes on, in its order, while earlier
// problems are timed. Errors come again when a tactic is prepared.
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
  using Trial =
      std::function<void(const Job&, bool over)>;  // told before and after each, from any thread
  // Starts; everything borrowed must outlive it.
  CompileAhead(const TacticSources& sources, std::vector<Job> jobs, Trial trial);
  // Ends with what is in hand.
  ~CompileAhead();

  // Until measuring is undisturbed. False when cancelled.
  bool wait(const std::function<void(int done, int total)>& progress,
            const std::function<bool()>& cancelled);

 private:
  void take_jobs();
  const TacticSources& sources_;
  std::vector<Job> jobs_;
  const Trial trial_;
  size_t first_ = 0;  // so many of the jobs must not run beside a measurement
  std::mutex mutex_;
  std::condition_variable ended_;
  size_t next_ = 0, first_done_ = 0;
  std::vector<std::jthread> threads_;
};

}  // namespace enginery
