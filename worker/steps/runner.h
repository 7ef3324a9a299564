// The runner: the half of a worker that executes one step in a process of its own. The hidden verb
// `runner`.
//
// Where: started by the agent (runner_process.h), with the environment that its SKU needs. Reads
// one request from `in_fd`, writes reports to `out_fd` (worker/README.md has the grammar of both),
// and ends. SIGTERM cancels the step within two seconds. Threads: call once, from main, before any
// other thread is started.
#pragma once

#include "worker/runner/runner_messages.h"
#include "worker/steps/build_session.h"

namespace enginery {

// The process's exit status: 0 when an end was reported, whatever it was. `open` is for tests
// (workbench.h).
int run_runner(OpenTarget open = open_target, int in_fd = kRunnerRequestFd,
               int out_fd = kRunnerReportFd);

}  // namespace enginery
