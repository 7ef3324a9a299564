// StepRun: one step on its way through a worker: inputs fetched, runner started and listened to,
// outputs uploaded.
//
// Where: the agent holds one while it is busy. Threads: works on the bench's; the members may be
// called from any.
#pragma once

#include <atomic>
#include <filesystem>
#include <mutex>

#include "schemas/messages.h"
#include "worker/agent/blob_cache.h"
#include "worker/agent/step_bench.h"
#include "worker/agent/step_questions.h"
#include "worker/agent/step_uploads.h"
#include "worker/runner/device_wait.h"
#include "worker/runner/runner_attempts.h"

namespace enginery {

// What a worker's steps have in common.
struct StepSettings {
  FarmAddress farm;
  std::vector<std::string> runner;  // program and arguments
  std::string worker;               // this worker's name
  uint64_t incarnation = 0;         // of its process
  int threads = 0, device_index = 0;
  uint64_t memory_bytes = 0;
  std::filesystem::path inputs;  // what the runner reads, by name; emptied
  std::filesystem::path folder;  // for the runner's outputs; emptied
  std::filesystem::path home;    // the runners' own: compiled kernels stay there (kernel_home.h)
  std::string device;            // its physical id: a step that needs the device locks it; "": none
  SandboxState sandbox = {};
  StepTable steps = enginery::steps();
};

class StepRun {
 public:
  // `changed` is called (from the bench's thread) whenever progress or outcome is new. `blobs` and
  // the bench, on which nothing else is begun meanwhile, outlive the run.
  StepRun(RunStep run, StepSettings settings, BlobCache& blobs, StepBench& bench,
          std::function<void()> changed);
  ~StepRun();  // cancels and waits
  StepRun(const StepRun&) = delete;

  const StepRef& ref() const { return run_.ref; }
  // Where it is now; its phase is "fetching", what the step does, or "uploading".
  Progress progress() const;
  // Its end, once there is one. Kinds: the runner's; storage (a blob is gone or damaged on the
  // farm, the disk failed, an output changed between report and upload); cancelled or preempted
  // after cancel().
  std::optional<Outcome> outcome() const;
  // Gives the step up within ten seconds; the outcome's kind becomes `as` (cancelled, preempted)
  // unless it had succeeded. The first call counts.
  void cancel(OutcomeKind as);

 private:
  void work(KeptRunner& kept);
  Outcome execute(KeptRunner& kept);
  Result<RunnerRequest> prepare(FarmConnection& farm);
  Status give_input(RunnerRequest& request, const std::string& name,
                    const std::filesystem::path& blob) const;
  bool reuses_runner() const;
  Status lock_device(KeptRunner& kept);
  Result<std::filesystem::path> home_of_build() const;
  SandboxView view_of(const std::filesystem::path& home) const;
  ProblemTaken take(const Digest& problem, int left, StepUploads& uploads,
                    StepQuestions& questions) const;
  Result<Outcome> run_runners(const RunnerRequest& request, KeptRunner& kept);
  Status upload(FarmConnection& farm, const Outcome& outcome);
  bool cancelled() const { return cancel_as_ != OutcomeKind::succeeded; }
  void set_progress(Progress progress);

  const RunStep run_;
  const StepSettings settings_;
  BlobCache& blobs_;
  StepBench& bench_;
  const std::function<void()> changed_;
  std::atomic<OutcomeKind> cancel_as_ = OutcomeKind::succeeded;
  mutable std::mutex mutex_;
  Progress progress_;
  std::optional<Outcome> outcome_;
};

}  // namespace enginery
