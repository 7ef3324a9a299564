// Values that several messages share: states, outcomes, and what people see of jobs, workers and
// engines. Plain structs without behaviour.
//
// Where: in messages, in the queue's rows, in what the command line prints. What each field means
// to its sender, and its unit, is said in values.capnp. `..._ns` are nanoseconds since the Unix
// epoch. Threads: as any value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/digest.h"
#include "engine/base/result.h"

namespace enginery {

// A fact as text: a field of a key, or what a step found out.
struct NamedText {
  std::string name, value;
  bool operator==(const NamedText&) const = default;
};
// A measured number; its name has its unit ("latency_ms").
struct NamedNumber {
  std::string name;
  double value = 0;
  bool operator==(const NamedNumber&) const = default;
};
// A blob and its role ("model", "choices", "engine"). Uploaded before it is named.
struct NamedBlob {
  std::string name;
  Digest digest;
  uint64_t size_bytes = 0;
  bool operator==(const NamedBlob&) const = default;
};

// An Error that travels and is stored.
struct Fault {
  ErrorCode code = ErrorCode::internal;
  std::string message;
  bool operator==(const Fault&) const = default;
};

// The numbers of these enumerations are on the wire and on disk: add at the end, never renumber.
// A job of which some targets failed is `failed`; its targets say which.
enum class JobState : uint16_t { submitted, queued, running, done, failed, cancelled };
enum class TargetState : uint16_t { queued, running, done, failed, cancelled };
// `none`: not decided yet. `joined`: another job's work in flight answered.
enum class Source : uint16_t { none, built, cache, joined };
// `waiting`: for an earlier step; `leased`: given to a worker that did not say yet that it runs;
// `committing`: signing, done by the coordinator.
enum class StepState : uint16_t {
  waiting,
  queued,
  leased,
  running,
  committing,
  done,
  failed,
  cancelled,
  quarantined
};
enum class WorkerCondition : uint16_t { idle, busy, draining, lost, quarantined };

const char* to_string(JobState state);
const char* to_string(TargetState state);
const char* to_string(Source source);
const char* to_string(StepState state);
const char* to_string(WorkerCondition condition);
inline bool is_end(JobState s) {
  return s >= JobState::done;
}
inline bool is_end(TargetState s) {
  return s >= TargetState::done;
}
inline bool is_end(StepState s) {
  return s >= StepState::done;
}

// How an attempt ended; the retry rules of the coordinator go by it.
enum class OutcomeKind : uint16_t {
  succeeded,
  failed,  // deterministic: the same input fails everywhere; never retried, kept as a negative
           // result
  cancelled,
  worker_lost,    // its process is gone: retried; 3 deaths quarantine the step's key
  preempted,      // drain, walltime: retried, not counted, bounded
  back_pressure,  // retried, not counted, bounded
  out_of_memory,  // retried, counted
  storage,        // the worker's disk: retried after a pause, counted
  internal,       // the worker broke: retried, counted
  partitioned,    // it fell silent and came back alive: not counted
  crashed,        // the step took its runner down: counts as a death
  input_gone,     // a blob that the step reads is gone or damaged: what made it is done again
};
const char* to_string(OutcomeKind kind);

// Names a lease: the epoch grows with every lease of the step, and a stale one never commits.
struct StepRef {
  std::string job;  // one of the jobs that want the step; for people and logs
  uint64_t step = 0;
  uint64_t epoch = 0;
  bool operator==(const StepRef&) const = default;
};

// How far a running step is. The unit of `done` is the phase's own; total 0: not known.
struct Progress {
  std::string phase;  // for people
  uint64_t done = 0, total = 0;
  double eta_seconds = 0;  // 0: not known
  bool operator==(const Progress&) const = default;
};

// What a step leaves behind: blobs (uploaded before), numbers and texts. The names are in
// worker/README.md.
struct Outcome {
  OutcomeKind kind = OutcomeKind::succeeded;
  Fault fault;  // unless succeeded
  std::vector<NamedBlob> outputs;
  std::vector<NamedNumber> metrics;
  std::vector<NamedText> facts;
  bool operator==(const Outcome&) const = default;
};

// One try of a step.
struct AttemptView {
  std::string worker;
  uint64_t epoch = 0;
  int64_t started_ns = 0, ended_ns = 0;  // wall time; 0: not ended
  std::string outcome;                   // to_string(OutcomeKind), "" while it runs
  std::string message;
  bool operator==(const AttemptView&) const = default;
};

// A step of a job, with its latest 50 attempts; ShowJob only.
struct StepView {
  std::string sku;  // "" for validate, which all targets share
  std::string name;
  Digest key;
  uint64_t step = 0;  // 0: answered from the catalog without an execution
  StepState state = StepState::waiting;
  Source source = Source::none;
  uint64_t epoch = 0;
  uint64_t commits = 0;
  std::vector<AttemptView> attempts;
  bool operator==(const StepView&) const = default;
};

// How near an engine comes to the float model on held-out rows. Percentages are negative where they
// are not known: no output has classes, or the rows came without labels.
struct HeldOutFigures {
  uint64_t rows = 0;
  double sqnr_db = 0;     // of the worst output
  double agreement = -1;  // rows of the float model's first class
  double top1 = -1;       // rows of the labels' class
  double float_top1 = -1;
  bool operator==(const HeldOutFigures&) const = default;
};

// One SKU's engine of a job.
struct TargetView {
  std::string sku;
  TargetState state = TargetState::queued;
  Source source = Source::none;
  bool provisional = false;
  std::optional<Digest> engine;
  Digest key;  // of the engine
  double latency_ms = 0;
  uint64_t size_bytes = 0;
  uint64_t timings_measured = 0, timings_reused = 0;
  std::optional<Fault> fault;
  Progress progress;
  std::string note;  // one sentence for people: what it waits for, or what its engine is
  std::optional<HeldOutFigures> accuracy;  // nothing where the job brought no rows to measure it on
  std::string calibration;  // "sha256:..." of the table or the histograms; "": there was none
  bool operator==(const TargetView&) const = default;
};

// A job. Made by the coordinator's core for every answer; clients compare revisions.
struct JobView {
  std::string id;  // "" for a dry run
  std::string name;
  std::string model_name;  // the file name that was submitted
  Digest model;
  JobState state = JobState::submitted;
  std::string client;
  std::string options;  // canonical JSON
  int32_t priority = 0;
  std::vector<std::string> tags;
  int64_t submitted_ns = 0, ended_ns = 0;
  std::vector<TargetView> targets;
  std::vector<StepView> steps;  // show only
  uint64_t revision = 0;        // grows with every change
  bool operator==(const JobView&) const = default;
};

// A job in a list.
struct JobLine {
  std::string id, model;
  JobState state = JobState::submitted;
  int64_t submitted_ns = 0;
  uint32_t done = 0, total = 0;  // targets
  bool operator==(const JobLine&) const = default;
};

// The workers of a SKU that have the same toolchain.
struct ToolchainView {
  std::string toolchain;
  uint32_t workers = 0, idle = 0, queued = 0;
  bool operator==(const ToolchainView&) const = default;
};

// A device type: how many workers are connected, how many of them idle, how many steps wait.
struct SkuView {
  std::string sku, kind;
  std::string toolchain;  // the one that most workers have: for which a job is best made
  uint32_t workers = 0, idle = 0, queued = 0;
  std::vector<ToolchainView> toolchains;  // all that were offered, that one first
  bool operator==(const SkuView&) const = default;
};

// What a device's sensors say; 0 where it does not say.
struct DeviceReading {
  double clock_mhz = 0, memory_clock_mhz = 0, temperature_c = 0, power_w = 0;
  uint64_t throttle_bits = 0;  // as NVML numbers the reasons
  bool operator==(const DeviceReading&) const = default;
};

// A worker as the coordinator sees it.
struct WorkerView {
  std::string id, sku;
  WorkerCondition state = WorkerCondition::idle;
  int64_t pid = 0;
  std::string host, device;
  std::string job, step;  // what it runs, or ""
  double last_seen_seconds = 0;
  Progress progress;
  std::string health;
  std::string reason;  // why it is quarantined, or ""
  DeviceReading reading;
  bool operator==(const WorkerView&) const = default;
};

// An engine of the catalog under the name that was asked for. latency_ms 0: not measured.
struct EngineView {
  std::string name, sku;
  Digest engine, content_digest, model, key;
  std::string precision;
  uint64_t size_bytes = 0;
  double latency_ms = 0;
  bool provisional = false;
  int64_t created_ns = 0;
  std::string job;
  bool operator==(const EngineView&) const = default;
};

// A field in which a wanted key and a stored one differ; nothing where a key lacks the field.
struct FieldDifference {
  std::string field;
  std::optional<std::string> wanted, had;
  bool operator==(const FieldDifference&) const = default;
};
// Why a key has no result.
struct MissView {
  Digest key;
  std::optional<Digest> nearest;  // nothing: no other action of that kind is stored
  std::vector<FieldDifference> differs;
  std::string sku;
  bool present = false;  // the key itself has a result: no miss
  bool operator==(const MissView&) const = default;
};

// Why one worker does or does not take a step, in one sentence.
struct CandidateView {
  std::string worker, reason;
  bool operator==(const CandidateView&) const = default;
};
// Why a target waits, and what each worker that matters has to do with it.
struct ExplainView {
  std::string sku, step, reason;
  std::vector<CandidateView> candidates;
  bool operator==(const ExplainView&) const = default;
};

// What the store has of a blob.
struct BlobState {
  Digest digest;
  bool present = false;
  uint64_t received_bytes = 0;  // of an unfinished upload: where to go on
  uint64_t size_bytes = 0;      // when present
  bool operator==(const BlobState&) const = default;
};

// A row of the timing cache. `entry` is the tuner's JSON; the coordinator never looks into it.
struct TimingEntry {
  Digest device, problem;
  std::string tactic, entry;
  int64_t measured_ns = 0;
  bool operator==(const TimingEntry&) const = default;
};

// A line of the event journal. `job` "": of the farm itself.
struct EventView {
  int64_t sequence = 0;
  std::string job;
  int64_t time_ns = 0;
  std::string kind;
  std::vector<NamedText> fields;
  bool operator==(const EventView&) const = default;
};

}  // namespace enginery
