// The steps of a build as functions from bytes to bytes: validate, tune, assemble, verify, profile.
//
// Where: a runner executes one of them for the farm, a local build all of them in turn. What they
// leave is described in worker/README.md. Steps that compute on the device hold its DeviceLock: one
// measurement at a time on one piece of hardware. Threads: one thread a workbench.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "pipeline/result.h"
#include "schemas/values.h"
#include "tuner/tuner.h"
#include "worker/steps/build_session.h"

namespace enginery {

// What a step says while it works. Every member may be left as it is.
struct StepHooks {
  std::function<void(const Progress&)> progress = [](const Progress&) {};
  std::function<bool()> cancelled = [] { return false; };
  std::function<void(const std::string&)> log = [](const std::string&) {};
};

// What a step leaves.
struct StepOutputs {
  std::map<std::string, Bytes> blobs;
  std::vector<NamedNumber> metrics;
  std::vector<NamedText> facts;
  std::string rejected;  // why nothing of it may be used (the engine computes wrong results): a
                         // deterministic failure
};

using StepInputs =
    std::map<std::string, std::shared_ptr<const Bytes>>;  // earlier steps' blobs by their names

struct TuneSettings {
  std::string worker;          // who measures; recorded in each timing
  bool error_on_miss = false;  // not_found instead of measuring
  bool one_by_one = false;     // TunerOptions
  std::function<void(const TacticTrial&)> trial = [](const TacticTrial&) {};
};

// Imports and optimises the model. Properties: structure, notes; metrics: layers. invalid_argument,
// unsupported: the model.
Result<StepOutputs> validate_step(BuildSession& bench);

// Chooses tactics. Blob: choices; metrics: timings_measured, timings_reused, problems, tuning_s and
// its parts. cancelled, timed_out (the device stays busy), device_lost (tuner.h: a new process goes
// on).
Result<StepOutputs> tune_step(BuildSession& bench, TimingStore& store, const TuneSettings& settings,
                              const StepHooks& hooks);

// Follows the choices. Blob: content; fact: content_digest. A provisional build needs no choices
// and leaves `unsigned`.
Result<StepOutputs> assemble_step(BuildSession& bench, const StepInputs& inputs,
                                  const StepHooks& hooks);

// Compares the content's outputs with the reference's. Metrics: error, bar; fact: verify_skipped
// where it was not possible. Above the bar: `rejected`.
Result<StepOutputs> verify_step(BuildSession& bench, const StepInputs& inputs,
                                const StepHooks& hooks);

// Times the content. Blob: unsigned (content and provenance); metrics: latency_ms,
// device_latency_ms.
Result<StepOutputs> profile_step(BuildSession& bench, const StepInputs& inputs,
                                 const std::string& worker, const StepHooks& hooks);

}  // namespace enginery
