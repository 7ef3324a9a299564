// What the queue keeps on disk: rows of jobs, targets, steps, attempts and SKUs, and the changes
// that the core asks for.
//
// Where: Core emits RowChanges and starts from a LoadedQueue; a QueueStore (store.h) carries them
// to SQLite or, in the simulator, to memory. Threads: as any value.
#pragma once

#include <map>
#include <variant>

#include "pipeline/result.h"
#include "pipeline/step.h"
#include "schemas/messages.h"

namespace enginery {

// One target of a job.
struct TargetRow {
  TargetState state = TargetState::queued;
  Source source = Source::none;  // of the engine, once it has ended
  std::optional<Digest> engine;
  double latency_ms = 0;  // 0: not measured
  uint64_t size_bytes = 0;
  uint64_t timings_measured = 0, timings_reused = 0;
  std::optional<Fault> fault;  // why it failed
  std::vector<StepUse> uses;   // the steps whose results it used, or waits for, in their order
  std::optional<HeldOutFigures> accuracy;
  std::string calibration;  // both as in TargetView
  std::string note;         // of a finished one; as in TargetView
  bool operator==(const TargetRow&) const = default;
};

// A submitted job.
struct JobRow {
  uint64_t number = 0;   // the id is job_id(number)
  RequestId request_id;  // of the submit: a repetition finds the job
  JobState state = JobState::submitted;
  int64_t submitted_ns = 0, ended_ns = 0;  // wall time; 0: not ended
  SubmitRequest request;
  std::vector<TargetRow> targets;  // in the request's order
  bool operator==(const JobRow&) const = default;
};
// "j7" for 7.
std::string job_id(uint64_t number);
// 7 for "j7"; nothing for what is no id.
std::optional<uint64_t> job_number(std::string_view id);

// One try of a step: a lease, or a signature that was asked for.
struct AttemptRow {
  uint64_t step = 0, epoch = 0;
  std::string worker;
  uint64_t incarnation = 0;              // of the worker's process
  int64_t started_ns = 0, ended_ns = 0;  // wall time
  std::optional<OutcomeKind> outcome;    // nothing while it runs
  std::string message;                   // why it ended so, for people
  bool operator==(const AttemptRow&) const = default;
};

// A step that some target needs.
struct StepRow {
  uint64_t id = 0;
  uint64_t job = 0;  // which made it; others may have joined
  StepKind kind = StepKind::validate;
  Digest key;
  int64_t generation = 1;      // of the key's result that it will be
  std::string sku, toolchain;  // who can run it; "" for any
  bool provisional = false;
  uint64_t assists = 0;  // the step for which it only measures; 0: it is needed for itself
  StepState state = StepState::queued;
  uint64_t epoch = 0;  // of the latest lease
  std::string worker;  // who holds the lease, or ""
  uint64_t incarnation = 0;
  std::string device;  // on which it holds it
  uint64_t commits = 0;
  Fault fault;                       // of a step that failed without a result
  std::vector<AttemptRow> attempts;  // in rows of their own
  bool operator==(const StepRow&) const = default;
};

// A SKU with a toolchain, as a worker has offered it at some time.
struct SeenSku {
  std::string sku, kind, toolchain;
  int64_t seen_ns = 0;
  bool operator==(const SeenSku&) const = default;
};

// SKU and toolchain: a worker of a SKU serves the keys that were made for its toolchain.
using SkuToolchain = std::pair<std::string, std::string>;

// What is known against a step's key: processes that ended while they ran it.
struct KeyTrouble {
  Digest key;
  uint32_t kills = 0;
  int64_t latest_ns = 0;  // wall time of the latest
  std::string evidence;   // who died how, for people
  bool operator==(const KeyTrouble&) const = default;
};

// A worker that gets no work until it has passed its self-test or somebody says so.
struct QuarantinedWorker {
  std::string worker;
  std::string reason;
  int64_t since_ns = 0;  // wall time
  bool operator==(const QuarantinedWorker&) const = default;
};

// What somebody last asked of a worker's process; another process of that name has no wish.
enum class Wish : uint8_t { none, drain, exit, resume };
struct WorkerWish {
  std::string worker;
  Wish wish = Wish::none;
  uint64_t incarnation = 0;  // of the process
  bool operator==(const WorkerWish&) const = default;
};

// --- Changes; all those of one Effects are one transaction

// A new job with its targets.
struct InsertJob {
  JobRow job;
};
struct UpdateJob {
  uint64_t number;
  JobState state;
  int64_t ended_ns;
};
// A job that has ended is forgotten, with its targets and the steps that it made.
struct ForgetJob {
  uint64_t number;
  std::vector<uint64_t> steps;
};
struct SaveTarget {
  uint64_t job;
  uint32_t index;  // its place in the job's request
  TargetRow target;
};
// A step without its attempts.
struct SaveStep {
  StepRow step;
};
struct SaveAttempt {
  AttemptRow attempt;
};
struct SaveSku {
  SeenSku sku;
};
// Without kills the key has no row.
struct SaveKeyTrouble {
  KeyTrouble trouble;
};
// Without a reason the worker has no row.
struct SaveQuarantine {
  QuarantinedWorker quarantine;
};
// Without a wish the worker has no row.
struct SaveWish {
  WorkerWish wish;
};
// The bytes of a key, so that why-miss can explain it field by field.
struct RecordAction {
  Bytes key_bytes;
};
// The step's end becomes the answer to its key. The first commit of a key and generation wins.
struct CommitResult {
  Digest key;
  uint64_t step;
  uint64_t epoch;
  StepResult result;
};
// A finished engine for the catalog, under its name and the tags.
struct AddEngine {
  EngineView engine;
  std::vector<std::string> tags;
};
// A line of the event log; `job` is "" for one of the farm itself.
struct AppendEvent {
  std::string job, kind;
  std::vector<NamedText> fields;
};

using RowChange = std::variant<InsertJob, UpdateJob, ForgetJob, SaveTarget, SaveStep, SaveAttempt,
                               SaveSku, SaveKeyTrouble, SaveQuarantine, SaveWish, RecordAction,
                               CommitResult, AddEngine, AppendEvent>;

// Everything, as it was committed.
struct LoadedQueue {
  std::map<uint64_t, JobRow> jobs;
  std::map<uint64_t, StepRow> steps;
  std::map<SkuToolchain, SeenSku> skus;
  std::map<Digest, KeyTrouble> troubles;
  std::map<std::string, QuarantinedWorker> quarantines;  // by worker
  std::map<std::string, WorkerWish> wishes;              // by worker
};

}  // namespace enginery
