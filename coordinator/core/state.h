// The inside of Core: its records, its indexes and the functions between them. Included by
// core*.cpp only.
//
// Indexes keep every event cheap: pools order what is ready, `in_flight` finds a running step by
// its key, timers are a heap whose stale entries are skipped. Containers are ordered, so that the
// same events give the same effects.
#pragma once

#include <deque>
#include <map>
#include <queue>
#include <set>
#include <unordered_map>

#include "coordinator/core/core.h"

namespace enginery {

using WorkerNo = uint32_t;

// Names of workers, devices, SKUs, clients' tags.
inline constexpr size_t kMaxNameBytes = 200;

// A place in a pool: fair start time first, then age.
struct QueueKey {
  double start = 0;
  uint64_t job = 0, step = 0;
  auto operator<=>(const QueueKey&) const = default;
};

// Ready steps that the same workers can run, in fair order (start-time fair queueing over clients).
struct Pool {
  std::set<QueueKey> ready;
  std::set<WorkerNo> idle;               // with a held Sync
  double now = 0;                        // start time of the latest lease
  std::map<std::string, double> finish;  // per client: where its next share begins
};

struct LiveTarget {
  TargetRow row;
  Digest engine_key, tune_key, validate_key;
  std::optional<StepKind> stage;  // what it looks up or waits for; nothing: the engine's own key
  bool looking = false;           // a Lookup is out
  uint64_t step = 0;              // the step that it waits for
  std::map<std::string, double> start;  // fair start time by pool
  std::vector<NamedBlob> outputs;       // of the steps before
  std::vector<NamedNumber> metrics;
  std::vector<NamedText> facts;
  int restarts = 0;  // because an earlier result's blobs were gone
};

struct Waiter {
  uint64_t job = 0;
  uint32_t target = 0;
  auto operator<=>(const Waiter&) const = default;
};

struct Hold {
  ReplyTo to;
  Nanoseconds until{};
};

struct JobHold {
  ReplyTo to;
  Nanoseconds until{};
  bool until_end = false;
};

struct LiveJob {
  JobRow row;
  std::vector<LiveTarget> targets;
  uint64_t revision = 1;
  std::vector<JobHold> holds;
  std::optional<ReplyTo> submit_reply;  // until the first lookups are answered
};

struct LiveStep {
  StepRow row;
  std::set<Waiter> waiters;
  std::string pool;
  std::optional<QueueKey> queued;  // its place, while it is in its pool
  Nanoseconds not_before{};        // back-off after a failed attempt
  Nanoseconds progress_at{};       // when the progress last changed
  Progress progress;
  NamedBlob unsigned_engine;  // sign: what is to be signed
  bool signing = false;       // sign: a SignTask is out
};

struct LiveWorker {
  WorkerNo number = 0;
  SyncRequest sync;  // the latest; its state is what the worker says of itself
  Nanoseconds seen{};
  bool lost = false;
  bool reported = false;  // has synced since this coordinator started
  uint64_t lease = 0;     // the step that it holds
  std::optional<Hold> held;
  bool drain = false, exit = false, drain_told = false;
  std::optional<StepRef> cancel_told;
  std::vector<std::string> pools;  // from which it takes work
};

struct DryRun {
  ReplyTo to;
  SubmitRequest request;
  JobView view;
  size_t open = 0;  // lookups
};

enum class TimerKind : uint8_t { worker_hold, worker_lost, job_hold, back_off, sign_again };
struct Timer {
  Nanoseconds at{};
  TimerKind kind = TimerKind::worker_hold;
  uint64_t id = 0;
  bool operator>(const Timer& other) const {
    return std::tie(at, kind, id) > std::tie(other.at, other.kind, other.id);
  }
};

struct CoreState {
  CoreOptions options;
  Now now;
  Nanoseconds started{};
  Effects* out = nullptr;  // of the event that is being handled

  std::map<uint64_t, LiveJob> jobs;
  std::map<RequestId, uint64_t> job_by_request;
  std::map<uint64_t, LiveStep> steps;
  std::unordered_map<Digest, uint64_t> in_flight;  // key -> step that is not ended
  std::map<std::string, Pool> pools;
  std::deque<LiveWorker> workers;  // by number; references stay valid
  std::map<std::string, WorkerNo> worker_by_name;
  std::map<std::string, std::set<WorkerNo>> devices;
  std::map<std::string, SeenSku> skus;
  std::map<uint64_t, DryRun> dry_runs;
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers;
  std::set<std::string> dirty_devices;  // may lease something now
  std::set<std::string> dirty_pools;
  uint64_t next_job = 1, next_step = 1, next_dry_run = 1;

  // core.cpp
  void load(LoadedQueue queue);
  void set_keys(LiveJob& job) const;
  void start();
  void handle(CoreEvent& event);
  void reply(const ReplyTo& to, Body body) { out->replies.push_back({to, std::move(body)}); }
  void refuse(const ReplyTo& to, ErrorCode code, std::string message);
  void save(RowChange row) { out->rows.push_back(std::move(row)); }
  void record(uint64_t job, const char* kind, std::vector<NamedText> fields);
  void arm(Nanoseconds at, TimerKind kind, uint64_t id) { timers.push({at, kind, id}); }

  // core_submit.cpp
  void submit(Request& request);
  Status check_submit(const Request& request, const SubmitRequest& submit) const;
  Status check_skus(const SubmitRequest& submit) const;
  void make_job(const Request& request, SubmitRequest submit);
  void answer_submit(LiveJob& job);
  void dry_run(const Request& request, const SubmitRequest& submit);
  void dry_run_answer(const LookupAnswer& answer);
  void cancel_job(const Request& request, const std::string& id);
  void cancel_target(LiveJob& job, uint32_t index);

  // core_chain.cpp
  void begin_target(LiveJob& job, uint32_t index);
  void advance(LiveJob& job, uint32_t index);
  void look_up(LiveJob& job, uint32_t index, const Digest& key);
  void looked_up(LookupAnswer& answer);
  bool usable(const LiveJob& job, const LiveTarget& target, StepKind kind,
              const LookupAnswer& answer) const;
  void use_result(LiveJob& job, uint32_t index, const StepUse& use, const StepResult& result);
  void make_step(LiveJob& job, uint32_t index, StepKind kind, const Digest& key,
                 int64_t generation);
  void attach(LiveJob& job, uint32_t index, LiveStep& step);
  void note_use(LiveJob& job, LiveTarget& target, StepUse use);
  void finish_target(LiveJob& job, uint32_t index);
  void fail_target(LiveJob& job, uint32_t index, const Fault& fault, TargetState end);
  void restart_target(LiveJob& job, uint32_t index);
  Digest key_of(const LiveTarget& target, const LiveJob& job, uint32_t index, StepKind kind) const;
  Bytes key_bytes_of(const LiveTarget& target, const LiveJob& job, uint32_t index,
                     StepKind kind) const;
  void update_job(LiveJob& job);
  void touch(LiveJob& job);
  void save_target(LiveJob& job, uint32_t index);

  // core_lease.cpp
  void enqueue(LiveStep& step);
  void dequeue(LiveStep& step);
  double fair_start(LiveJob& job, LiveTarget& target, const std::string& pool);
  void dispatch();
  void dispatch_device(const std::string& device);
  std::optional<QueueKey> best_for(const LiveWorker& worker) const;
  bool available(const LiveWorker& worker) const;
  void set_idle(LiveWorker& worker);
  bool lease(LiveWorker& worker, LiveStep& step);
  RunStep run_message(const LiveStep& step) const;
  void drop_lease(LiveStep& step);
  StepKind kind_of(uint64_t step) const;
  // What the worker occupies on its device: nothing, or a step that runs (also one that it should
  // have stopped).
  enum class Load : uint8_t { none, working, measuring };
  Load load_of(const LiveWorker& worker) const;

  // core_sync.cpp
  void sync(Request& request);
  LiveWorker& find_worker(const SyncRequest& sync);
  void update_worker(LiveWorker& worker, const SyncRequest& sync);
  void see_sku(const SyncRequest& sync);
  void sync_state(LiveWorker& worker, const Request& request);
  void answer_sync(LiveWorker& worker, const ReplyTo& to);
  void release(LiveWorker& worker);
  void lose_worker(LiveWorker& worker, const std::string& why);
  bool owns(const LiveWorker& worker, const StepRef& ref) const;
  void running(LiveWorker& worker, const Running& state);
  void finished(LiveWorker& worker, const Finished& state, const std::vector<Digest>& missing);
  void drain_worker(const Request& request, const DrainWorker& drain);

  // core_commit.cpp
  void end_attempt(LiveStep& step, OutcomeKind kind, const std::string& message);
  void succeeded(LiveStep& step, const Outcome& outcome, const std::vector<Digest>& missing);
  void commit(LiveStep& step, StepResult result);
  void retry_or_give_up(LiveStep& step, OutcomeKind kind, const Fault& fault);
  void give_up(LiveStep& step, StepState state, const Fault& fault);
  void cancel_step(LiveStep& step);
  void ask_for_signature(LiveStep& step);
  void signed_answer(const SignAnswer& answer);

  // core_query.cpp
  bool query(const Request& request);
  LiveJob* find_job(const std::string& id);
  const LiveJob* find_job(const std::string& id) const;
  JobView view(const LiveJob& job, bool with_steps) const;
  TargetView view(const LiveJob& job, const LiveTarget& target, uint32_t index) const;
  std::vector<StepView> step_views(const LiveJob& job) const;
  JobList list(const ListJobs& request) const;
  SkuList sku_list() const;
  WorkerList worker_list() const;
  WorkerCondition condition(const LiveWorker& worker) const;
  void wait(const Request& request, const WaitJob& wait);

  // core_explain.cpp
  ExplainReply explain(const LiveJob& job) const;
  std::string why_waiting(const LiveTarget& target) const;
  std::string why_not(const LiveWorker& worker, const LiveStep& step) const;
  bool could_run(const LiveWorker& worker, const LiveStep& step) const;
  std::string why_none() const;

  // core_timer.cpp
  void timer_fired();
  void fire(const Timer& timer);

  // core_check.cpp
  std::string check() const;
};

// The pools' names.
std::string sku_pool(const std::string& sku, const std::string& toolchain);
std::string provisional_pool(const std::string& sku);
inline const std::string kAnyPool = "*";  // validate: any worker

}  // namespace enginery
