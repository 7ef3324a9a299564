// EngineTrials: an engine that is tried in a step, as whoever listens to the step hears of it:
// which tactic is in flight, and which one failed, for the timing store.
//
// Where: assemble, verify and profile, whose engines run tactics that nothing may have measured
// before (level 0). Its watch may be called from any thread, the rest from the step's.
#pragma once

#include <chrono>
#include <mutex>
#include <vector>

#include "worker/steps/step_context.h"

namespace enginery {

class EngineTrials {
 public:
  // `step` outlives it.
  EngineTrials(const StepContext& step, const DeviceInfo& info);
  ~EngineTrials();
  EngineTrials(const EngineTrials&) = delete;

  // For verify_content and profile_content.
  EngineWatch watch();
  // Says that the tactic computes wrong numbers.
  void add_wrong(const std::string& problem, const std::string& tactic, const std::string& reason,
                 double error);
  // Stores the failures that came in since it was last asked. false: there were none, or the store
  // takes none (it only reads). Errors: storage.
  Result<bool> store_failures();

 private:
  struct Failure {
    std::string problem;
    Timing timing;
  };
  void add(const PlanStep& step, FailureKind stage, const Error& error);
  void run(bool over);

  const StepContext& step_;
  const std::string device_;
  std::mutex mutex_;
  std::vector<Failure> failures_;
  bool running_ = false;  // a run of the whole engine was said to be in flight
  std::chrono::steady_clock::time_point said_{};
};

}  // namespace enginery
