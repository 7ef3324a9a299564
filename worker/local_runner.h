// The steps of a local build in runner processes, from the session's bytes to bytes: a tactic that
// faults takes its process down, and that must not be this one.
//
// Where: between LocalWorker and run_attempts, with files in a temporary folder in between. The
// steps after the tuning share a process, which opens the device and reads the model once; the
// tuning has its own, since tactics that nobody had checked ran there.
// Threads: as run_attempts.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "worker/runner/runner_attempts.h"
#include "worker/runner/scratch_folder.h"
#include "worker/steps/step_context.h"

namespace enginery {

struct LocalRunnerOptions {
  std::vector<std::string> program;     // and arguments (worker/steps/runner.h)
  std::chrono::milliseconds max_trial;  // of one tactic
  std::string worker;                   // who measures
  StepTable steps;
};

class LocalRunner {
 public:
  explicit LocalRunner(LocalRunnerOptions options) : options_(std::move(options)) {}

  // Runs the step on the context's inputs and, where it reads the model, on the session's. Errors:
  // the step's, with the code that the runner reported; internal: it crashed.
  Result<StepOutputs> run(const Step& step, const StepContext& context);

 private:
  Status make_folder();
  Result<RunnerRequest> request_for(const Step& step, const StepContext& context);

  const LocalRunnerOptions options_;
  std::unique_ptr<ScratchFolder> folder_;
  bool has_model_ = false;  // in the folder: it is the same for all steps of a build
  std::unique_ptr<RunnerProcess> kept_;
};

}  // namespace enginery
