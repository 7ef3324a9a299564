// The coordinator's decisions as a pure state machine: step(event, now) -> effects.
//
// Where: the server (server.cpp) and the simulator (tests/sim) feed it events and carry out its
// effects: first all row changes in one transaction, then the rest. It does no I/O, reads no clock
// and has no threads; the same events give the same effects. After a restart a new Core starts from
// the rows and finds the running workers by their next Sync. Threads: one thread at a time.
//
// The parts: core_submit.cpp (submit, dry run, cancel), core_chain.cpp (a target's way from step to
// step), core_lease.cpp (pools, fairness, who may run what), core_sync.cpp (workers),
// core_commit.cpp (ends of attempts, retry rules), core_query.cpp, core_explain.cpp and
// core_timer.cpp (long polls, lost workers).
#pragma once

#include <memory>

#include "coordinator/store/queue_rows.h"
#include "engine/base/clock.h"

namespace enginery {

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

// --- events
// -------------------------------------------------------------------------------------------------------

// A request of the control socket. `missing`: which of the blobs that it names (a submit's model
// and inputs, a finished step's outputs) are not in the store.
struct Request {
  ReplyTo to;
  std::string client;  // Hello's name, for the fair share
  Body body;
  std::vector<Digest> missing;
};
// What a Lookup found: the newest complete result of the key, and the generation that the next one
// would have.
struct LookupToken {
  uint64_t job = 0;  // 0: a dry run
  uint32_t target = 0;
  StepKind kind = StepKind::validate;
  uint64_t dry_run = 0;
};
struct LookupAnswer {
  LookupToken token;
  Digest key;
  std::optional<StepResult> result;
  int64_t next_generation = 1;
};
// How a SignTask went: the signed engine's blob, or why not.
struct SignAnswer {
  uint64_t step = 0, epoch = 0;
  std::optional<NamedBlob> engine;
  Fault fault;
};
struct TimerFired {};
using CoreEvent = std::variant<Request, LookupAnswer, SignAnswer, TimerFired>;

// --- effects
// ------------------------------------------------------------------------------------------------------

struct Lookup {
  LookupToken token;
  Digest key;
};
// Read the unsigned engine, append the signature, store the result; answer with a SignAnswer.
struct SignTask {
  uint64_t step = 0, epoch = 0;
  Digest unsigned_engine;
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

struct Effects {
  std::vector<RowChange> rows;  // first, in one transaction
  std::vector<Lookup> lookups;  // then these, in any order
  std::vector<SignTask> signing;
  std::vector<Reply> replies;
  std::vector<RouteLog> log_routes;
  std::vector<std::string> ended_jobs;
  std::vector<std::string> notes;  // for the coordinator's own log
};

struct CoreOptions {
  Nanoseconds sync_hold = std::chrono::seconds(5);
  Nanoseconds worker_lost_after = std::chrono::seconds(15);
  Nanoseconds cancel_hold = std::chrono::seconds(1);  // how often a worker hears `cancel` again
  Nanoseconds no_progress = std::chrono::minutes(30);
  std::string trust_domain = "local";
  StepTable steps = enginery::steps();  // the chain; tests add a row
  bool accept_stale_epochs =
      false;  // breaks the lease rule: only for the test that the simulator notices
  bool measure_together = false;  // breaks the device rule: likewise
};

struct CoreState;  // core_state.h

class Core {
 public:
  // The state after a start: rows as committed. What is to be done first is in start's effects.
  Core(CoreOptions options, LoadedQueue queue);
  ~Core();
  Effects start(Now now);
  Effects step(CoreEvent event, Now now);

  // When a TimerFired is due; nothing when nobody waits.
  std::optional<Nanoseconds> next_timer() const;

  // Read-only views, for the shell's catalog questions and for tests.
  std::vector<Digest> engine_keys(const std::string& job) const;
  std::optional<JobView> view(const std::string& job) const;
  std::vector<std::string> job_ids(bool ended) const;
  // Every rule that must hold between events; the first broken one as a sentence, "" when all hold.
  std::string check() const;

 private:
  std::unique_ptr<CoreState> state_;
};

}  // namespace enginery
