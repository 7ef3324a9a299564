// A step of a local build in runner processes, from the session's bytes to bytes: a tactic that
// faults takes its process down, and that must not be this one.
//
// Where: between LocalWorker and run_attempts, with files in a temporary folder in between.
// Threads: as run_attempts.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "worker/steps/step_context.h"

namespace enginery {

struct LocalRunner {
  std::vector<std::string> program;     // and arguments (worker/steps/runner.h)
  std::chrono::milliseconds max_trial;  // of one tactic
  std::string worker;                   // who measures
};

// Runs a step that reads only the model. Errors: the step's, with the code that the runner
// reported; internal: it crashed.
Result<StepOutputs> run_apart(const LocalRunner& runner, const std::string& step,
                              const BuildSessionSpec& spec, TimingStore& timings,
                              const StepHooks& hooks);

}  // namespace enginery
