// The messages between command line, workers and coordinator, as plain C++ structs; codec.h turns
// them into bytes.
//
// Adding one: an arm in envelope.capnp, a struct and an arm of Body here, a codec pair, a case in
// the server. Threads: as any value.
#pragma once

#include <variant>

#include "schemas/values.h"

namespace enginery {

inline constexpr uint32_t kProtocolVersion = 1;
inline constexpr uint32_t kMinProtocolVersion = 1;
inline constexpr size_t kMaxControlBytes = 1 << 20;
inline constexpr size_t kMaxBulkBytes = 2 << 20;
inline constexpr size_t kChunkBytes = 1 << 20;  // of a blob's transfer
inline constexpr size_t kMaxListCount = 10000;

// Made by the client, the same for every repetition of a request.
struct RequestId {
  uint64_t high = 0, low = 0;
  auto operator<=>(const RequestId&) const = default;
  std::string text() const;  // 32 hex digits
};
RequestId make_request_id();  // random

// --- control socket
// ---------------------------------------------------------------------------------------------

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

// --- bulk socket; chunk bytes travel in the raw second frame
// ------------------------------------------------------

struct HasBlobs {
  std::vector<Digest> digests;
  bool operator==(const HasBlobs&) const = default;
};
struct BlobStates {
  std::vector<BlobState> blobs;  // one for each digest asked, in order
  bool operator==(const BlobStates&) const = default;
};
struct PutBlob {
  Digest digest;
  uint64_t size_bytes = 0;  // of the whole blob
  uint64_t offset = 0;
  Digest chunk;  // of the raw frame: another one is refused (corrupt_data)
  bool operator==(const PutBlob&) const = default;
};
struct PutReply {
  uint64_t offset = 0;  // where to go on
  bool complete = false;
  bool operator==(const PutReply&) const = default;
};
struct GetBlob {
  Digest digest;
  uint64_t offset = 0, length = kChunkBytes;
  bool operator==(const GetBlob&) const = default;
};
struct BlobChunk {
  Digest digest;
  uint64_t offset = 0, size_bytes = 0;  // size of the whole blob
  Digest chunk;                         // of the raw frame
  bool operator==(const BlobChunk&) const = default;
};

// Appends to the step's log; offset counts the bytes of this lease's own log, so that it may be
// repeated.
struct AppendLog {
  StepRef ref;
  uint64_t offset = 0;
  std::string text;
  bool operator==(const AppendLog&) const = default;
};
struct AppendReply {
  uint64_t offset = 0;  // where to go on
  bool operator==(const AppendReply&) const = default;
};
// A job's log from an offset on; with `follow` a long poll that waits for more.
struct ReadLog {
  std::string job;
  uint64_t offset = 0;
  uint32_t length = 256 * 1024;
  bool follow = false;
  uint32_t hold_ms = 5000;
  bool operator==(const ReadLog&) const = default;
};
struct LogChunk {
  uint64_t offset = 0;  // of the first byte of text
  std::string text;
  uint64_t end = 0;       // the log's present end
  bool complete = false;  // the job has ended and nothing follows `end`
  bool operator==(const LogChunk&) const = default;
};

// Rows of a device (of some problems only, when there are any), in pages.
struct GetTimings {
  Digest device;
  std::vector<Digest> problems;
  uint64_t from_row = 0;
  bool operator==(const GetTimings&) const = default;
};
struct TimingList {
  std::vector<TimingEntry> entries;
  uint64_t next_row = 0;
  bool complete = true;
  bool operator==(const TimingList&) const = default;
};
// Merges timings, also of a lost lease. `keys`: the canonical bytes of the device and problem keys
// that entries name.
struct PutTimings {
  std::vector<Bytes> keys;
  std::vector<TimingEntry> entries;
  bool operator==(const PutTimings&) const = default;
};
struct PutTimingsReply {
  uint64_t stored = 0;
  bool operator==(const PutTimingsReply&) const = default;
};

// In the order of envelope.capnp.
using Body = std::variant<std::monostate, ErrorReply, Hello, Welcome, Done, SubmitRequest, JobReply,
                          ListJobs, JobList, ShowJob, WaitJob, CancelJob, ExplainJob, ExplainReply,
                          FindEngines, EngineList, WhyMiss, WhyMissReply, ListSkus, SkuList,
                          ListWorkers, WorkerList, DrainWorker, SyncRequest, SyncReply, HasBlobs,
                          BlobStates, PutBlob, PutReply, GetBlob, BlobChunk, AppendLog, AppendReply,
                          ReadLog, LogChunk, GetTimings, TimingList, PutTimings, PutTimingsReply>;

struct Envelope {
  uint32_t version = kProtocolVersion;
  RequestId request;
  std::string session;  // of the client, made at its start
  uint64_t incarnation = 0, sequence = 0;
  std::string trace;  // W3C traceparent, or ""
  Body body;
  bool operator==(const Envelope&) const = default;
};

// What travels: the envelope, and on the bulk socket the raw bytes of a chunk.
struct Message {
  Envelope envelope;
  Bytes chunk;
};

}  // namespace enginery
