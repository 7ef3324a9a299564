// Carries out the core's effects against a store: all row changes of a batch of events are one
// transaction, and only when it is durable do the replies leave. A storage failure throws the core
// away and starts it again from the rows: at once, and while the failures go on after pauses that
// double up to five seconds, because a full disk stays full and a queue takes long to load.
//
// Where: between the control socket's loop (control_server.cpp) and Core; the simulator has its own
// driver, which crashes between any two effects. Threads: one thread at a time.
#pragma once

#include <deque>

#include "coordinator/core/core.h"
#include "coordinator/server/tally.h"
#include "coordinator/store/store.h"

namespace enginery {

// What became of a step's lease, for the log store: only who holds one may append.
struct LeaseNote {
  uint64_t step = 0, epoch = 0;
  std::string worker;  // that holds it; "" for none
  bool ended = false;  // the step, and with it all its leases
};

// What is left to do once the batch is durable.
struct Outbox {
  std::vector<Reply> replies;  // to requests of this batch, and to long polls that it ended
  std::vector<SignTask> signing;
  std::vector<RouteLog> log_routes;
  std::vector<LeaseNote> leases;  // of steps, as the batch changed them
  std::vector<std::string> new_jobs, ended_jobs, forgotten_jobs, notes;
  bool recorded = false;  // the journal has new lines
  std::vector<Tick> ticks;
  std::optional<uint64_t> open_jobs;  // that the queue was loaded with
};

class QueueDriver {
  struct Opened {
    explicit Opened() = default;
  };

 public:
  // Loads the queue and starts the core. `store` and `clock` outlive it.
  static Result<std::unique_ptr<QueueDriver>> open(QueueStore& store, const Clock& clock,
                                                   CoreOptions options);

  // Feeds an event into the open batch; lookups that follow from it are answered at once, so that
  // they see what the batch wrote.
  void feed(CoreEvent event);
  // Makes the batch durable and hands out what follows from it. After a failure: storage errors for
  // every request of the batch but Syncs, which are repeated anyway.
  Outbox flush();

  const Core& core() const { return *core_; }
  // When an event is due although nobody asks: a timer of the core, or the next try to start it.
  std::optional<Nanoseconds> next_timer() const {
    return broken_ ? std::optional(start_at_) : core_->next_timer();
  }

  // For open(), which alone can make the key.
  QueueDriver(Opened, QueueStore& store, const Clock& clock, CoreOptions options)
      : store_(store), clock_(clock), options_(std::move(options)) {}

 private:
  Now now() const { return {clock_.monotonic(), clock_.wall_time()}; }
  Status restart();
  Status start_again();
  void take(Effects effects);
  void collect(Effects effects);
  Status apply(const Effects& effects);
  Outbox fail(Error error);  // by value: the failure is forgotten in it

  QueueStore& store_;
  const Clock& clock_;
  CoreOptions options_;
  std::unique_ptr<Core> core_;
  bool begun_ = false;
  Status failure_;                // of this batch
  std::string cause_;             // of the latest start
  bool broken_ = false;           // the core does not match the rows: it must be started again
  Nanoseconds start_at_{};        // not before this time
  Nanoseconds pause_{};           // before the try after the next one
  std::vector<ReplyTo> pending_;  // requests of this batch, without Syncs
  std::deque<Lookup> lookups_;
  Outbox outbox_;
};

}  // namespace enginery
