// The messages of the control socket: jobs, catalog questions and the workers' protocol.
//
// Where: arms of Body (messages.h). What each field means to its sender, and its unit, is said in
// messages.capnp; here is what code must know: who fills a field in, what its default means, which
// limits hold. Threads: as any value.
#pragma once

#include <variant>

#include "schemas/values.h"

namespace enginery {

inline constexpr uint32_t kProtocolVersion = 1;      // that this enginery speaks
inline constexpr uint32_t kMinProtocolVersion = 1;   // the oldest one that it still understands
inline constexpr size_t kMaxControlBytes = 1 << 20;  // of an envelope frame on this socket

// The first message on the socket; Client::connect fills it in. Answer: Welcome, or `unsupported`
// when there is no common version.
struct Hello {
  std::string role;  // "cli" or "worker"
  std::string name;  // whose fair share this is: user@host
  uint32_t least_version = kMinProtocolVersion, greatest_version = kProtocolVersion;
  std::string software;
  int64_t pid = 0;
  bool operator==(const Hello&) const = default;
};
struct Welcome {
  uint32_t version = kProtocolVersion;  // the greatest common one
  std::string bulk_address;
  std::string software;
  int64_t pid = 0;
  uint64_t incarnation = 0;  // of the coordinator: another one after every start
  Bytes public_key;          // 32 bytes: with which it signs engines
  bool operator==(const Welcome&) const = default;
};
// The answer to any request that cannot be served: nothing has changed. Client gives it to its
// caller as an Error.
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
  bool try_quarantined = false;   // try quarantined steps once more
  uint32_t tuning_workers = 0;    // that may share one tuning; 0: as many as are free
  // Not on the wire: the coordinator knows it from the key that sent the job. Whose results may
  // answer it, and whom its results may answer; "": the default domain.
  std::string tenant = {};
  bool operator==(const SubmitRequest&) const = default;
};
// The job as it is when the answer leaves.
struct JobReply {
  JobView job;  // with its steps for ShowJob only
  bool operator==(const JobReply&) const = default;
};

struct ListJobs {
  uint32_t limit = 1000;  // 0 means 1000; at most 2000 lines are sent
  std::string before;     // a job id: older ones only
  bool operator==(const ListJobs&) const = default;
};
struct JobList {
  std::vector<JobLine> jobs;  // newest first
  bool operator==(const JobList&) const = default;
};
// Answer: JobReply with every step and its latest attempts. not_found: no such job.
struct ShowJob {
  std::string job;  // its id, "j17"
  bool operator==(const ShowJob&) const = default;
};
// Long poll: answered (JobReply without steps) when the job's revision is not the known one, or
// after hold_ms at most.
struct WaitJob {
  std::string job;
  uint64_t known_revision = 0;  // JobView::revision as last seen
  uint32_t hold_ms = 5000;      // the coordinator holds it 30 s at most
  bool until_end = false;       // only the end counts as a change
  bool operator==(const WaitJob&) const = default;
};
// Answer: JobReply. Cancelling a job that has ended changes nothing. not_found: no such job.
struct CancelJob {
  std::string job;
  bool operator==(const CancelJob&) const = default;
};
// Why the job's targets wait. not_found: no such job.
struct ExplainJob {
  std::string job;
  bool operator==(const ExplainJob&) const = default;
};
struct ExplainReply {
  std::vector<ExplainView> targets;  // those that have not ended
  bool operator==(const ExplainReply&) const = default;
};

// `name`: a submitted name, a job id or "sha256:" and at least 8 hex digits. Empty tag or sku: any.
// not_found says what was looked for.
struct FindEngines {
  std::string name, tag, sku;
  uint32_t limit = 100;  // 1 to 1000
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
  std::vector<MissView> misses;  // one for a key, one a target for a job
  bool operator==(const WhyMissReply&) const = default;
};

// Every SKU that a worker has offered since the catalog began, whether one is connected or not.
struct ListSkus {
  bool operator==(const ListSkus&) const = default;
};
struct SkuList {
  std::vector<SkuView> skus;
  bool operator==(const SkuList&) const = default;
};
// Every worker that is not forgotten, those that are connected first; 1000 at most.
struct ListWorkers {
  bool operator==(const ListWorkers&) const = default;
};
struct WorkerList {
  std::vector<WorkerView> workers;
  bool operator==(const WorkerList&) const = default;
};
// Answer: Done; the worker hears of it with its next SyncReply. not_found: no such worker.
struct DrainWorker {
  std::string worker;
  bool exit = false;  // and end the process once it is idle
  bool operator==(const DrainWorker&) const = default;
};

// Answer: Done. Ends a drain and a quarantine. not_found: no such worker.
struct UndrainWorker {
  std::string worker;
  bool operator==(const UndrainWorker&) const = default;
};
// Answer: Done. not_found: no such worker; usage: it is alive.
struct ForgetWorker {
  std::string worker;
  bool operator==(const ForgetWorker&) const = default;
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
// Repeated until the coordinator desires something else than Keep. Its outputs are uploaded before.
struct Finished {
  StepRef ref;
  Outcome outcome;
  bool operator==(const Finished&) const = default;
};
using WorkerState = std::variant<Idle, Running, Finished>;

// The whole worker protocol: one request that says what the worker does, one reply that says what
// it should do. A long poll: answered when the coordinator desires something else, or after
// SyncReply::next_sync_ms at most. Repeatable: the coordinator acts on states, not on messages.
struct SyncRequest {
  std::string worker;        // stable name, e.g. host/cpu-avx2
  uint64_t incarnation = 0;  // grows with every start of the worker
  uint64_t sequence = 0;     // grows with every new Sync of the incarnation; older ones are ignored
  std::string sku, kind, toolchain;  // the toolchain decides which keys it can serve
  std::string device;                // physical device: at most one measurement at a time on it
  std::string host;
  int64_t pid = 0;
  WorkerState state;
  std::string health;                     // JSON for people; shown cut to 200 bytes
  bool prefer_idle = false;               // draining: it wants no new work
  std::vector<std::string> compiles_for;  // SKUs that it can build provisional engines for
  uint64_t examined = 0;                  // Examine::number of the latest self-test that ended
  std::string exam_problem;               // what it found; "": all is well
  DeviceReading reading;                  // of its device
  bool operator==(const SyncRequest&) const = default;
};

// A step as a worker gets it: everything that it needs, so that it asks nothing else but blobs.
struct RunStep {
  StepRef ref;       // comes back with every report
  std::string kind;  // validate, tune, assemble, verify, profile
  Digest key;        // under which its result will be stored
  std::string sku;
  std::string name, model_name;  // of the engine; of the model's file
  Digest model;
  std::string options;            // canonical JSON, as submitted
  std::vector<NamedBlob> inputs;  // the job's further blobs, then earlier steps' outputs by name
  Digest engine_key;
  std::vector<NamedText> facts;  // of earlier steps, and the engine key's fields as "key.<name>"
  bool provisional = false;      // measure nothing
  uint32_t assistant = 0;        // n: measure for the worker that leads the step, as the n-th
  bool operator==(const RunStep&) const = default;
};

// A worker is about to measure one of the problems of a step that several may share; it has one in
// hand at most. A hint that saves work: what two measure all the same is merged. Answer:
// ProblemTaken.
struct TakeProblem {
  std::string worker;
  uint64_t incarnation = 0;
  StepRef ref;
  Digest problem;     // of its key (pipeline/keys.h)
  uint32_t left = 0;  // problems that it still lacks, with this one
  bool operator==(const TakeProblem&) const = default;
};
struct ProblemTaken {
  bool taken = false;    // false: another worker measures it, or the lease is over
  uint32_t sharers = 1;  // workers that share the step, the one that asks included
  bool operator==(const ProblemTaken&) const = default;
};

// ---- what the coordinator desires of a worker

// Go on; also what a desire of a newer coordinator reads as.
struct Keep {
  bool operator==(const Keep&) const = default;
};
// Report Idle: what was finished is stored, or nobody wants it any more.
struct BeIdle {
  bool operator==(const BeIdle&) const = default;
};
// Stop this lease, if it is the one that runs, and report how it ended.
struct Cancel {
  StepRef ref;
  bool operator==(const Cancel&) const = default;
};
// Finish what runs, then take nothing more.
struct Drain {
  bool operator==(const Drain&) const = default;
};
// As Drain; the process ends once it is idle.
struct Exit {
  bool operator==(const Exit&) const = default;
};
// Test yourself: device, memory and disk; say in SyncRequest::examined how it went. May come twice.
struct Examine {
  uint64_t number = 0;
  bool operator==(const Examine&) const = default;
};
// Take work again: the end of a Drain.
struct Resume {
  bool operator==(const Resume&) const = default;
};
using Desired = std::variant<Keep, BeIdle, RunStep, Cancel, Drain, Exit, Examine, Resume>;

struct SyncReply {
  uint32_t next_sync_ms = 5000;  // how long the coordinator may hold the next Sync
  Desired desired;
  bool operator==(const SyncReply&) const = default;
};

// A question to the catalog that changes nothing, and an order that changes it; which ones there
// are says coordinator/catalog/catalog_actions.h. A long one is answered when it is done.
struct AskCatalog {
  std::string action;
  std::vector<std::string> words;
  std::string options;  // a JSON object, or ""
  bool operator==(const AskCatalog&) const = default;
};
struct OrderCatalog {
  std::string action;
  std::vector<std::string> words;
  std::string options;
  bool operator==(const OrderCatalog&) const = default;
};
struct CatalogAnswer {
  std::string json;
  bool operator==(const CatalogAnswer&) const = default;
};

// Lines of the event journal, oldest first. `after` 0: from the first one of `since_ns` on, or the
// newest `limit` where that is 0 too.
struct ListEvents {
  std::string job;  // "": of all jobs and of the farm
  int64_t after = 0, since_ns = 0;
  uint32_t limit = 0;    // 0 means 1000
  uint32_t hold_ms = 0;  // a long poll: how long it may wait for a line
  bool operator==(const ListEvents&) const = default;
};
struct EventList {
  std::vector<EventView> events;
  int64_t next = 0;   // where the next question goes on: its `after`
  bool more = false;  // lines beyond the limit are there
  bool operator==(const EventList&) const = default;
};

// The signed manifest of a job's engines, or of the newest ones of a name, one for each SKU.
// Errors: not_found, also while the job has not ended.
struct MakeSet {
  std::string name, tag;
  bool operator==(const MakeSet&) const = default;
};
struct SetReply {
  Bytes set;  // pipeline/engine_set.h
  bool operator==(const SetReply&) const = default;
};

// From the holder of a token: allow this key in its place, once. Repeatable with the same key.
// untrusted: the token was used with another key, is revoked or has expired.
struct JoinFarm {
  Bytes public_key;  // 32 bytes
  std::string name;  // what the host wants to be called
  bool operator==(const JoinFarm&) const = default;
};
struct Joined {
  std::string name;  // under which the key is allowed: its workers' names begin with it
  bool operator==(const Joined&) const = default;
};

}  // namespace enginery
