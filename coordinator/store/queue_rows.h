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

struct TargetRow {
  TargetState state = TargetState::queued;
  Source source = Source::none;
  std::optional<Digest> engine;
  double latency_ms = 0;
  uint64_t size_bytes = 0, timings_measured = 0, timings_reused = 0;
  std::optional<Fault> fault;
  std::vector<StepUse> uses;
  bool operator==(const TargetRow&) const = default;
};

struct JobRow {
  uint64_t number = 0;  // the id is job_id(number)
  RequestId request_id;
  JobState state = JobState::submitted;
  int64_t submitted_ns = 0, ended_ns = 0;
  SubmitRequest request;
  std::vector<TargetRow> targets;
  bool operator==(const JobRow&) const = default;
};
std::string job_id(uint64_t number);
std::optional<uint64_t> job_number(std::string_view id);  // nothing: not an id

struct AttemptRow {
  uint64_t step = 0, epoch = 0;
  std::string worker;
  uint64_t incarnation = 0;
  int64_t started_ns = 0, ended_ns = 0;
  std::optional<OutcomeKind> outcome;  // nothing while it runs
  std::string message;
  bool operator==(const AttemptRow&) const = default;
};

struct StepRow {
  uint64_t id = 0;
  uint64_t job = 0;  // which made it; others may have joined
  StepKind kind = StepKind::validate;
  Digest key;
  int64_t generation = 1;
  std::string sku, toolchain;
  bool provisional = false;
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

struct SeenSku {
  std::string sku, kind, toolchain;
  int64_t seen_ns = 0;
  bool operator==(const SeenSku&) const = default;
};

// --- changes; all of one Effects are one transaction
// --------------------------------------------------------------

struct InsertJob {
  JobRow job;
};  // with its targets
struct UpdateJob {
  uint64_t number;
  JobState state;
  int64_t ended_ns;
};
struct SaveTarget {
  uint64_t job;
  uint32_t index;
  TargetRow target;
};
struct SaveStep {
  StepRow step;
};  // without its attempts
struct SaveAttempt {
  AttemptRow attempt;
};
struct SaveSku {
  SeenSku sku;
};
struct RecordAction {
  Bytes key_bytes;
};  // so that why-miss can explain it
// The step's end becomes the answer to its key. The first commit of a key and generation wins.
struct CommitResult {
  Digest key;
  uint64_t step;
  uint64_t epoch;
  StepResult result;
};
struct AddEngine {
  EngineView engine;
  std::vector<std::string> tags;
};
struct AppendEvent {
  std::string job, kind;
  std::vector<NamedText> fields;
};

using RowChange = std::variant<InsertJob, UpdateJob, SaveTarget, SaveStep, SaveAttempt, SaveSku,
                               RecordAction, CommitResult, AddEngine, AppendEvent>;

// Everything, as it was committed.
struct LoadedQueue {
  std::map<uint64_t, JobRow> jobs;
  std::map<uint64_t, StepRow> steps;
  std::map<std::string, SeenSku> skus;
};

}  // namespace enginery
