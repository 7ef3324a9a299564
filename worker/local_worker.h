// The worker of a farm of one: executes leased steps over one session that keeps the model, the
// device and the network from step to step.
//
// Where: local_farm.cpp leases steps to it. A step that may take its process down runs in runner
// processes (local_runner.h) where the request names a runner, each other one in this process.
// Threads: one; the hooks are called on the caller's thread.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/keys.h"
#include "pipeline/result.h"
#include "schemas/messages.h"
#include "tuner/timing/read_only_store.h"
#include "worker/local_farm.h"
#include "worker/local_runner.h"
#include "worker/timing/timing_file.h"

namespace enginery {

class LocalWorker {
  static constexpr char kWorkerName[] = "local build";  // as timings and provenance say

 public:
  // Everything outlives it.
  LocalWorker(Catalog& catalog, const LocalBuildRequest& request, const StepHooks& hooks)
      : catalog_(catalog),
        request_(request),
        hooks_(hooks),
        runner_({request.runner, request.max_trial, kWorkerName, request.steps, request.sandbox}) {}

  // Opens the timings, reads the model and opens the device. Errors: theirs.
  Status open();
  // What the build's keys are made of, without the structure; after open().
  const KeySubject& subject() const { return subject_; }
  // The network's structure: imports the model. Errors: the model's.
  Result<Digest> structure();

  // Executes a step and stores what it leaves. An outcome that is neither succeeded nor failed is
  // this machine's trouble, not an answer. Errors: cancelled before it began, storage.
  Result<Outcome> run(const RunStep& run);

  // The steps that were executed, in seconds each.
  const std::vector<std::pair<std::string, double>>& phases() const { return phases_; }

 private:
  Status open_timings();
  Status read_verify_inputs();
  Result<std::shared_ptr<const Bytes>> blob_of(const NamedBlob& named);
  Result<StepInputs> inputs_for(const RunStep& run, const Step& step);
  Result<StepOutputs> execute(const RunStep& run, const Step& step);
  Result<Outcome> store(StepOutputs done);

  Catalog& catalog_;
  const LocalBuildRequest& request_;
  const StepHooks& hooks_;
  LocalRunner runner_;
  KeySubject subject_;
  std::string device_;  // its physical id
  std::optional<BuildSession> session_;
  std::unique_ptr<TimingStore> timings_;
  FileTimingStore* timing_file_ = nullptr;  // of timings_, where it is one
  std::vector<Tensor> verify_inputs_;
  struct MadeBlob {
    Digest digest;
    std::shared_ptr<const Bytes> bytes;
  };
  std::map<std::string, MadeBlob> made_;  // what steps left for later ones, by its names
  std::vector<std::pair<std::string, double>> phases_;
};

}  // namespace enginery
