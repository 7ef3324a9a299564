// What a step is given and what it leaves: the types that every step's function shares.
//
// Where: a runner fills a context for its one step, a local build for one after the other;
// step_functions.h finds the function. Threads: one thread a context; the hooks are called on it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/device/device_lock.h"
#include "pipeline/step.h"
#include "schemas/values.h"
#include "tuner/tuner.h"
#include "worker/steps/build_session.h"

namespace enginery {

// What a step says while it works. Every member may be left as it is.
struct StepHooks {
  std::function<void(const Progress&)> progress = [](const Progress&) {};
  std::function<bool()> cancelled = [] {
    return false;
  };  // asked often; then the step ends with `cancelled`
  std::function<void(const std::string&)> log = [](const std::string&) {};
};

// Blobs by their names; shared, because an engine is large and several steps read it.
using StepBlobs = std::map<std::string, std::shared_ptr<const Bytes>>;

inline std::shared_ptr<const Bytes> to_blob(Bytes bytes) {
  return std::make_shared<const Bytes>(std::move(bytes));
}

// What a step leaves. worker/README.md has the names.
struct StepOutputs {
  StepBlobs blobs;
  std::vector<NamedNumber> metrics;
  std::vector<NamedText> facts;
  // Why nothing of it may be used (the engine computes wrong results): a deterministic failure. ""
  // when it may.
  std::string rejected;
};

// Earlier steps' blobs.
using StepInputs = StepBlobs;

// How a tuning measures.
struct TuneSettings {
  TimingStore* timings = nullptr;  // where timings come from and go; a step that tunes has one
  bool one_by_one = false;  // TunerOptions: so that a tactic that takes the process down is known
  int assistant = 0;        // TunerOptions: 0 chooses, n only measures, as the n-th
  std::function<void(const InFlightTactic&)> trial = [](const InFlightTactic&) {};
};

struct StepContext {
  BuildSession& session;  // the model, the device and the lowered network
  StepInputs inputs = {};
  std::string worker = {};  // who runs it; recorded in timings and provenance
  StepHooks hooks = {};
  TuneSettings tuning = {};
  // Who started this process holds the device's measuring lock for it.
  bool device_locked = false;
  // What verify runs the model on, parallel to its inputs; none: made up.
  std::vector<Tensor> verify_inputs = {};
};

// Whether a step of the table reads a blob of the name: then it is kept from step to step.
bool is_read_by_a_step(const std::string& name, StepTable table);

// The named blob of an earlier step. internal: it was not handed over.
Result<std::shared_ptr<const Bytes>> input_named(const StepContext& step, const std::string& name);

// Waits for the device's measuring lock, unless it is held already, and says `phase` afterwards.
// timed_out (the device stays busy), cancelled.
Result<DeviceLock> lock_device(const StepContext& step, const DeviceInfo& info,
                               const Progress& phase);

// Where the content came from and, with a profile, what was measured.
Provenance make_provenance(const StepContext& step, const Digest& content, const Profile& profile);

}  // namespace enginery
