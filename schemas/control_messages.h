// The messages of the control socket: jobs, catalog questions and the workers' protocol.
//
// Where: arms of Body (messages.h); their bytes are messages.capnp's. Threads: as any value.
#pragma once

#include <variant>

#include "schemas/values.h"

namespace enginery {

inline constexpr uint32_t kProtocolVersion = 1;
inline constexpr uint32_t kMinProtocolVersion = 1;
inline constexpr size_t kMaxControlBytes = 1 << 20;

struct Hello {
  std::string role;  // "cli" or "worker"
  std::string name;  // whose fair share this is: user@host
  uint32_t least_version = kMinProtocolVersion, greatest_version = kProtocolVersion;
  std::string software;
  int64_t pid = 0;
  bool operator==(const Hello&) const = default;
};
struct Welcome {
  uint32_t version = kProtocolVersion;
  std::string bulk_address;
  std::string software;
  int64_t pid = 0;
  uint64_t incarnation = 0;  // of the coordinator: another one after every start
  Bytes public_key;          // 32 bytes: with which it signs engines
  bool operator==(const Welcome&) const = default;
};
struct ErrorReply {
  Fault fault;
  bool operator==(const ErrorReply&) const = default;
};
// The answer of requests that return nothing.
struct Done {
  bool operator==(const Done&) const = default;
};

// The key fields come without `kind` and `trust_domain`, which the coordinator adds: kinds
// "engine", "tune", "validate".
struct TargetRequest {
  std::string sku;
  std::string toolchain;  // for which the keys were made; "" fits every worker of the SKU
  std::vector<NamedText> engine_key;
  std::vector<NamedText> tune_key;  // structure instead of model: no weights in it
  bool provisional = false;  // untuned, by a worker that compiles for the SKU without having it
  bool operator==(const TargetRequest&) const = default;
};
// Idempotent by the envelope's request id. Answer: JobReply.
struct SubmitRequest {
  std::string client;      // whose fair share it counts to; "" means Hello's name
  std::string name;        // --name
  std::string model_name;  // the file's name
  Digest model;            // a blob, uploaded before
  std::vector<NamedBlob>
      inputs;           // further blobs (external weights, calibration data), uploaded before
  std::string options;  // canonical JSON, opaque to the coordinator
  std::vector<NamedText> validate_key;
  std::vector<TargetRequest> targets;
  int32_t priority = 0;  // soft: +100 doubles the share
  std::vector<std::string> tags;
  bool rebuild = false;           // do not read finished results
  bool wait_for_workers = false;  // queue for SKUs that no worker has offered yet
  bool dry_run = false;           // only say what would happen
  bool operator==(const SubmitRequest&) const = default;
};
struct JobReply {
  JobView job;
  bool operator==(const JobReply&) const = default;
};

struct ListJobs {
  uint32_t limit = 1000;
  std::string before;  // a job id: older ones only
  bool operator==(const ListJobs&) const = default;
};
struct JobList {
  std::vector<JobLine> jobs;  // newest first
  bool operator==(const JobList&) const = default;
};
struct ShowJob {
  std::string job;
  bool operator==(const ShowJob&) const = default;
};
// Long poll: answered (JobReply without steps) when the job's revision is not the known one, or
// after hold_ms at most.
struct WaitJob {
  std::string job;
  uint64_t known_revision = 0;
  uint32_t hold_ms = 5000;
  bool until_end = false;  // only the end counts as a change
  bool operator==(const WaitJob&) const = default;
};
struct CancelJob {
  std::string job;
  bool operator==(const CancelJob&) const = default;
};
struct ExplainJob {
  std::string job;
  bool operator==(const ExplainJob&) const = default;
};
struct ExplainReply {
  std::vector<ExplainView> targets;
  bool operator==(const ExplainReply&) const = default;
};

// `name`: a submitted name, a job id or "sha256:" and at least 8 hex digits. Empty tag or sku: any.
struct FindEngines {
  std::string name, tag, sku;
  uint32_t limit = 100;
  bool operator==(const FindEngines&) const = default;
};
struct EngineList {
  std::vector<EngineView> engines;  // newest first
  bool operator==(const EngineList&) const = default;
};
// `subject`: a key (at least 8 hex digits) or a job.
struct WhyMiss {
  std::string subject;
  bool operator==(const WhyMiss&) const = default;
};
struct WhyMissReply {
  std::vector<MissView> misses;
  bool operator==(const WhyMissReply&) const = default;
};

struct ListSkus {
  bool operator==(const ListSkus&) const = default;
};
struct SkuList {
  std::vector<SkuView> skus;
  bool operator==(const SkuList&) const = default;
};
struct ListWorkers {
  bool operator==(const ListWorkers&) const = default;
};
struct WorkerList {
  std::vector<WorkerView> workers;
  bool operator==(const WorkerList&) const = default;
};
struct DrainWorker {
  std::string worker;
  bool exit = false;  // and end the process once it is idle
  bool operator==(const DrainWorker&) const = default;
};

// What a worker is doing, in its own words.
struct Idle {
  bool operator==(const Idle&) const = default;
};
struct Running {
  StepRef ref;
  Progress progress;
  bool operator==(const Running&) const = default;
};
// Repeated until the coordinator desires something else than `keep`; the outputs are uploaded
// before.
struct Finished {
  StepRef ref;
  Outcome outcome;
  bool operator==(const Finished&) const = default;
};
using WorkerState = std::variant<Idle, Running, Finished>;

// The whole worker protocol. A long poll: answered when the coordinator's wish changes, or after
// next_sync at most.
struct SyncRequest {
  std::string worker;        // stable name, e.g. host/cpu-avx2
  uint64_t incarnation = 0;  // grows with every start of the worker
  uint64_t sequence = 0;  // grows with every new Sync of the incarnation; an older one is ignored
  std::string sku, kind, toolchain;
  std::string device;  // physical device: at most one measurement at a time on it
  std::string host;
  int64_t pid = 0;
  WorkerState state;
  std::string health;                     // JSON for people
  bool prefer_idle = false;               // draining: no new work, please
  std::vector<std::string> compiles_for;  // SKUs that it can build provisional engines for
  bool operator==(const SyncRequest&) const = default;
};

// A step as a worker gets it.
struct RunStep {
  StepRef ref;
  std::string kind;  // validate, tune, assemble, verify, profile
  Digest key;
  std::string sku;
  std::string name, model_name;
  Digest model;
  std::string options;
  std::vector<NamedBlob>
      inputs;  // the job's further blobs, then the earlier steps' outputs by their names
  Digest engine_key;
  std::vector<NamedText>
      facts;  // of the earlier steps, and the engine key's fields as "key.<name>"
  bool provisional = false;
  bool operator==(const RunStep&) const = default;
};

struct Keep {
  bool operator==(const Keep&) const = default;
};
struct BeIdle {
  bool operator==(const BeIdle&) const = default;
};
struct Cancel {
  StepRef ref;
  bool operator==(const Cancel&) const = default;
};
struct Drain {
  bool operator==(const Drain&) const = default;
};
struct Exit {
  bool operator==(const Exit&) const = default;
};
using Desired = std::variant<Keep, BeIdle, RunStep, Cancel, Drain, Exit>;

struct SyncReply {
  uint32_t next_sync_ms = 5000;  // how long the coordinator may hold the next Sync
  Desired desired;
  bool operator==(const SyncReply&) const = default;
};

}  // namespace enginery
