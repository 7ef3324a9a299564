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

#include "worker/runner/device_wait.h"
#include "worker/runner/runner_attempts.h"
#include "worker/runner/scratch_folder.h"
#include "worker/steps/step_context.h"

namespace enginery {

struct LocalRunnerOptions {
  std::vector<std::string> program;     // and arguments (worker/steps/runner.h)
  std::chrono::milliseconds max_trial;  // of one tactic
  std::string worker;                   // who measures
  StepTable steps;
  SandboxMode sandbox = SandboxMode::off;  // settled when the first runner starts
};

class LocalRunner {
 public:
  explicit LocalRunner(LocalRunnerOptions options) : options_(std::move(options)) {}

  // Runs the step on the context's inputs and, where it reads the model, on the session's, while it
  // holds the device of this physical id, if it needs it, or as long as its runner stays. Errors:
  // the step's, with the code that the runner reported; internal: it crashed; those of
  // wait_for_device and settle_sandbox.
  Result<StepOutputs> run(const Step& step, const StepContext& context, const std::string& device);

 private:
  Status make_folder();
  Result<RunnerRequest> request_for(const Step& step, const StepContext& context);
  // In the sandbox, where there is one.
  Result<RunnerCommand> command_for(const RunnerRequest& request, const BuildSessionSpec& spec);
  Status give(const std::string& name, const std::shared_ptr<const Bytes>& bytes,
              RunnerRequest& request);
  void keep(const NamedBlob& output, const std::filesystem::path& file,
            const std::shared_ptr<const Bytes>& bytes);
  Status lock_device(const Step& step, const StepContext& context, const std::string& device);

  const LocalRunnerOptions options_;
  std::optional<SandboxState> sandbox_;
  std::unique_ptr<ScratchFolder> folder_;
  bool has_model_ = false;  // in the folder: it is the same for all steps of a build
  // The inputs that are in the folder, by their names; those that a runner left with their digest.
  struct Given {
    std::shared_ptr<const Bytes> bytes;
    std::optional<Digest> digest;
  };
  std::map<std::string, Given> given_;
  std::optional<DeviceLock> lock_;  // as long as a runner stays, which has it open
  std::unique_ptr<RunnerProcess> kept_;
};

}  // namespace enginery
