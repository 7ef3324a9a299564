// The four objects of the core and the events between them.
//
// An event is handled by the object that it concerns, from the top (a client's request) or from
// below (a worker's Sync, a timer); what a lower object reports is handed up here: an ended step to
// the targets that waited for it, a moved target to its job. So the objects know each other one
// way: Queue <- Targets <- Jobs -> Polls.
// Where: the inside of Core. Threads: as Core.
#pragma once

#include "coordinator/core/jobs.h"

namespace enginery {

class EventHandler {
 public:
  EventHandler(CoreOptions options, LoadedQueue queue);

  Effects start(Now now);
  Effects step(CoreEvent event, Now now);

  const Targets& targets() const { return targets_; }
  const Jobs& jobs() const { return jobs_; }
  const Polls& polls() const { return polls_; }
  // The time of the latest event.
  Now now() const { return now_; }
  // Asks each object for its own rules, then for those between them; "" when all hold.
  std::string check() const;

 private:
  void notice_stall(Turn& turn);
  void handle(CoreEvent& event, Turn& turn);
  // Forgets old jobs, leases what the event made possible and arms its timers.
  void finish(Turn& turn);

  // query.cpp: requests of clients
  struct RequestDispatch;
  void query(Request& request, Turn& turn);
  void cancel(const Request& request, const std::string& id, Turn& turn);
  // The worker of that name; nothing, and the request is refused, when there is none.
  std::optional<WorkerNo> worker_for(const Request& request, const char* verb,
                                     const std::string& name, Turn& turn);
  void drain(const Request& request, const DrainWorker& asked, Turn& turn);
  void undrain(const Request& request, const std::string& name, Turn& turn);
  void forget(const Request& request, const std::string& name, Turn& turn);

  // sync.cpp: workers
  void sync(const Request& request, Turn& turn);
  // Decides what the worker hears, and when: at once if it should change what it does, otherwise
  // its Sync is held.
  void answer_sync(WorkerNo worker, Turn& turn);
  // Answers a held Sync, if there is one, because what the worker should do has changed.
  void release(WorkerNo worker, Turn& turn);
  // Answers the worker's held Sync.
  void tell(WorkerNo worker, Desired desired, Turn& turn);
  // Leases what can be leased.
  void dispatch(Turn& turn);
  // Cancels a step that nobody waits for any longer, and tells the worker that runs it.
  void abandon(uint64_t step, Turn& turn);

  // Hands up what happened to a step.
  void report(const StepEvent& event, Turn& turn);
  void report(const Waiter& at, Change change, Turn& turn);
  void looked_up(const LookupAnswer& answer, Turn& turn);
  void signature(const SignAnswer& answer, Turn& turn);
  void fire(const Timer& timer, Turn& turn);
  void end_sync_poll(WorkerNo worker, Turn& turn);

  const CoreOptions options_;
  Now now_;
  Polls polls_;
  Queue queue_;
  Targets targets_;
  Jobs jobs_;
};

}  // namespace enginery
