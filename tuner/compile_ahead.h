// CompileAhead: compiles the device code of tactics off the timing thread, in their order, while earlier problems are timed.
//
// Touches no device. What it compiled stays with the sources; what does not compile says why again when it is prepared.
#pragma once

#include <atomic>
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
  // Starts; everything borrowed must outlive it.
  CompileAhead(const TacticSources& sources, std::vector<Job> jobs);
  // Ends with what is in hand.
  ~CompileAhead();

 private:
  void take_jobs();
  const TacticSources& sources_;
  const std::vector<Job> jobs_;
  std::atomic<size_t> next_ = 0;
  std::vector<std::jthread> threads_;
};

}  // namespace enginery
