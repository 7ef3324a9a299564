// Attempts: one step in a runner process, and in another one when a tactic took the first one down.
//
// Where: between RunnerProcess and who wants the step done: a worker's StepRun, a local build. A
// fault on a GPU ends everything that its process has there; the next process finds the tactic
// among the failed ones and leaves it alone. Threads: as RunnerProcess; everything is called from
// the caller's thread.
#pragma once

#include "engine/base/clock.h"
#include "pipeline/step.h"
#include "tuner/timing/timing.h"
#include "worker/runner/runner_process.h"

namespace enginery {

// How long a tactic may take for its first steps (compilation, the first runs) before it counts as
// one that hangs.
inline constexpr std::chrono::minutes kMaxTrial{3};
// A run of many tactics (a whole engine, a round of a race) may take this many times as long.
inline constexpr int kMaxTrialsInARun = 5;

struct AttemptEvents {
  std::function<void(const Progress&)> progress;
  std::function<void(const std::string&)>
      log;                          // the step's lines and those of its stdout and stderr
  std::function<bool()> cancelled;  // asked five times a second
  std::chrono::milliseconds max_trial = kMaxTrial;
  const Clock* clock =
      nullptr;  // for max_trial and the dates of failed tactics; null: the machine's
  StepTable steps = enginery::steps();
};

inline constexpr int kMaxAttempts = 20;

// The end of the step, as the last runner reported it or died. A step that may crash is tried again
// at once, `kMaxAttempts` times in all, when its runner crashed, hung or lost the device, as long
// as the attempt before has left a new failed tactic. A tactic that was in flight when the runner
// crashed, or for longer than `max_trial`, is such a tactic; where several were in flight, or a run
// that names none, any of them may have done it, and the next attempt tries them one by one.
// `timings` serves the runner's questions and takes what it measures. Errors: internal (no process
// could be made), and those of `timings`.
//
// `kept`: a runner of the same command that waits for a request, or null where one is to be
// started. Afterwards the one that did the step, unless it ended or a tactic failed in it. Nullptr:
// every runner ends with its step.
Result<Outcome> run_attempts(const RunnerCommand& command, RunnerRequest request,
                             TimingStore& timings, const AttemptEvents& events,
                             std::unique_ptr<RunnerProcess>* kept = nullptr);

}  // namespace enginery
