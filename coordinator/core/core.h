// The coordinator's decisions as a pure state machine: step(event, now) -> effects.
//
// Where: the server (server.cpp) and the simulator (tests/sim) feed it events and carry out its
// effects: first all row changes in one transaction, then the rest. It does no I/O, reads no clock
// and has no threads; the same events give the same effects. After a restart a new Core starts from
// the rows and finds the running workers by their next Sync. Threads: one thread at a time.
//
// Inside, four objects know each other one way: Queue (queue.h: steps, workers, leases) <- Targets
// (targets.h: the walk along the chain) <- Jobs (jobs.h: state, views), and Polls (polls.h: held
// replies, timers); event_handler.h hands each event to the one that it concerns.
#pragma once

#include <memory>

#include "coordinator/store/queue_rows.h"
#include "engine/base/clock.h"
#include "pipeline/signature.h"
#include "schemas/sight.h"

namespace enginery {

// The time of an event, as the driver read its clock.
struct Now {
  Nanoseconds monotonic{};  // leases and time-outs
  Nanoseconds wall{};       // dates
};

// Where an answer goes: the transport's business, opaque here.
struct ReplyTo {
  Bytes route;
  RequestId request;
  bool operator==(const ReplyTo&) const = default;
};

// --- Events

// A request of the control socket. An unknown kind of body is answered with an error.
struct Request {
  ReplyTo to;
  std::string client;  // for the fair share: Hello's name, or what the key is called
  Body body;
  // Which of the blobs that the body names are not in the store: a submit's model and inputs, a
  // finished step's outputs.
  std::vector<Digest> missing;
  std::string principal = {};  // the key that sent it, whose ids are its own; "": of this host
  Sight sight = {};            // which jobs the sender knows of; others do not exist for it
};

// For whom a key was looked up; comes back in the answer.
struct LookupToken {
  uint64_t job = 0;  // 0: a dry run
  uint32_t target = 0;
  StepKind kind = StepKind::validate;
  uint64_t dry_run = 0;
};

// What the store has for the key of a Lookup.
struct LookupAnswer {
  LookupToken token;
  Digest key;
  // The newest result whose blobs are all in the store.
  std::optional<StepResult> result;
  // What a new result of the key would be.
  int64_t next_generation = 1;
};

// How a SignTask went: the signed engine's blob, or why not.
struct SignAnswer {
  uint64_t step = 0, epoch = 0;
  std::optional<NamedBlob> engine;
  // Where there is no engine. not_found, corrupt_data: the unsigned one is gone and is built again;
  // untrusted, incompatible: a worker left no engine, or another one, the step ends; all else is
  // tried again.
  Fault fault;
};

// The time of next_timer() has come.
struct TimerFired {};

using CoreEvent = std::variant<Request, LookupAnswer, SignAnswer, TimerFired>;

// --- Effects

// Ask the store for the key, inside the transaction; answer with a LookupAnswer.
struct Lookup {
  LookupToken token;
  Digest key;
};

// Read the unsigned engine, check and sign it, store the result; answer with a SignAnswer.
struct SignTask {
  uint64_t step = 0, epoch = 0;
  UnsignedEngine engine;
};

struct Reply {
  ReplyTo to;
  Body body;
};

// From now on the step's log lines are the job's too, with this prefix.
struct RouteLog {
  uint64_t step = 0;
  std::string job, prefix;
};

// What is to be done because of an event. The rows come first, as one transaction, and then the
// lookups in any order; nothing else is done before the transaction is durable.
struct Effects {
  std::vector<RowChange> rows;
  std::vector<Lookup> lookups;
  std::vector<SignTask> signing;
  std::vector<Reply> replies;
  std::vector<RouteLog> log_routes;
  std::vector<std::string> ended_jobs;      // their logs are complete
  std::vector<std::string> forgotten_jobs;  // their logs may go
  std::vector<std::string> notes;           // for the coordinator's own log
};

struct CoreOptions {
  // How long a worker's Sync is held at most: the worker learns it as next_sync.
  Nanoseconds sync_hold = std::chrono::seconds(5);
  // A worker that has been silent for this long loses its lease.
  Nanoseconds worker_lost_after = std::chrono::seconds(15);
  // The coordinator itself stood still for longer than this, where its timers came that late: the
  // workers get the time that they could not be heard.
  Nanoseconds noticed_stall = std::chrono::seconds(1);
  // A worker that has been lost for this long is forgotten.
  Nanoseconds forget_workers_after = std::chrono::hours(1);
  // How often a worker that goes on with a cancelled step is told `cancel` again.
  Nanoseconds cancel_hold = std::chrono::seconds(1);
  // A running step whose progress does not change for this long is tried again.
  Nanoseconds no_progress = std::chrono::minutes(30);
  // What is remembered of jobs that have ended: so many, for so long; both limits count.
  size_t ended_jobs_kept = 20'000;
  Nanoseconds ended_jobs_age = std::chrono::hours(30 * 24);
  // How long a key whose steps end processes is not tried again.
  Nanoseconds key_quarantine = std::chrono::hours(24);
  // Before the second self-test of a worker that is quarantined again; doubles up to the longest.
  Nanoseconds examine_again = std::chrono::minutes(1), examine_at_most = std::chrono::hours(1);
  // Jobs of one client that have not ended.
  size_t max_open_jobs = 100'000;
  // Idle workers that begin to assist a tuning together with its leader, before that knows what it
  // lacks; others follow when it does (assistants.cpp).
  size_t early_assistants = 0;
  // In every key of a job without a tenant: results of one domain never answer for another.
  std::string trust_domain = "local";
  // The chain of steps; outlives the core.
  StepTable steps = enginery::steps();
};

// The trust domain of a job: its tenant's, else the default one.
inline const std::string& domain_of(const SubmitRequest& request, const CoreOptions& options) {
  return request.tenant.empty() ? options.trust_domain : request.tenant;
}

class EventHandler;  // the inside: event_handler.h

class Core {
 public:
  // From the rows as they were committed.
  Core(CoreOptions options, LoadedQueue queue);
  ~Core();
  // What is to be done first, before any event.
  Effects start(Now now);
  // Handles the event. `now` never goes back (monotonic).
  Effects step(CoreEvent event, Now now);

  // When a TimerFired is due, in monotonic time; nothing when nobody waits.
  std::optional<Nanoseconds> next_timer() const;

  // --- Read-only views, for the catalog's questions and for tests

  // The keys of the job's engines, in the order of its targets; empty when there is no such job.
  std::vector<Digest> engine_keys(const std::string& job) const;
  // The job with its steps; nothing when there is no such job.
  std::optional<JobView> view(const std::string& job) const;
  // In whose name the job was submitted; nothing when there is no such job.
  std::optional<std::string> tenant_of(const std::string& job) const;
  // The jobs that have ended, or those that have not, oldest first.
  std::vector<std::string> job_ids(bool ended) const;
  // Every rule that must hold between events; the first broken one as a sentence, "" when all hold.
  std::string check() const;

 private:
  std::unique_ptr<EventHandler> inside_;
};

}  // namespace enginery
