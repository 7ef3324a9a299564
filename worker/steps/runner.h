// The runner: the half of a worker that executes one step in a process of its own. The hidden verb
// `runner`.
//
// Where: started by the agent (worker/runner/runner_process.h), with the environment that its SKU
// needs. Reads one request from `in_fd`, writes reports to `out_fd` (worker/README.md has the
// grammar of both), and ends. SIGTERM cancels the step within two seconds. Threads: call once, from
// main, before any other thread is started.
#pragma once

#include "worker/runner/runner_messages.h"
#include "worker/steps/step_functions.h"

namespace enginery {

// What a runner executes with; the product's by default.
struct RunnerSetup {
  OpenTarget open = open_target;  // tests add tactic sources of their own
  // The device that is described to the agent: without sources, which take longer to open.
  std::function<Result<std::unique_ptr<Device>>(const std::string& sku)> describe =
      [](const std::string& sku) { return open_device(sku, {}); };
  StepTable steps = enginery::steps();
  StepFunctions functions = step_functions();
};

// The process's exit status: 0 when an end was reported, whatever it was; 1 when no request came.
int run_runner(const RunnerSetup& setup = {}, int in_fd = kRunnerRequestFd,
               int out_fd = kRunnerReportFd);

}  // namespace enginery
