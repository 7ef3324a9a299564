// Long polls and timers: replies that are held back until something changes or their time is over.
//
// Where: Core holds a worker's Sync here until the worker should do something else, and Jobs holds
// a client's WaitJob until the job changes; every held reply has a timer, so that none is held for
// ever. Knows neither workers nor jobs, only their numbers. Threads: as Core.
#pragma once

#include <map>
#include <queue>
#include <unordered_map>

#include "coordinator/core/turn.h"

namespace enginery {

// Which changes of a job answer a WaitJob.
enum class PollFor : uint8_t { any_change, the_end };

class Polls {
 public:
  // --- timers

  void arm(const std::vector<Timer>& timers);
  // When the earliest timer is due; nothing when none is armed.
  std::optional<Nanoseconds> next_timer() const;
  // Takes out the earliest timer that is due. A timer is never disarmed: whoever handles it checks
  // whether it still means something.
  std::optional<Timer> take_due(Nanoseconds now);

  // --- Syncs of workers, at most one each

  // Holds the reply; a Sync of the same worker that was held before is forgotten. It has no timer
  // until keep_sync.
  void hold_sync(WorkerNo worker, const ReplyTo& to, Nanoseconds until);
  // The Sync stays open: arms the timer of its deadline.
  void keep_sync(WorkerNo worker);
  // The same, with another deadline. Nothing happens when no Sync is held.
  void keep_sync_until(WorkerNo worker, Nanoseconds until);
  // The deadline of the worker's held Sync; nothing when none is held.
  std::optional<Nanoseconds> sync_deadline(WorkerNo worker) const;
  // Takes the reply out, to answer or to drop it; nothing when none is held.
  std::optional<ReplyTo> take_sync(WorkerNo worker);

  // --- WaitJobs of clients

  // Holds the reply until the deadline at most. A repetition of a held request changes nothing.
  void hold_job(uint64_t job, const ReplyTo& to, PollFor what, Nanoseconds until);
  // Takes out the replies that a change of the job answers: all of them when it is the end.
  std::vector<ReplyTo> take_job(uint64_t job, PollFor what);
  // Takes out the replies whose deadline has come.
  std::vector<ReplyTo> take_expired(uint64_t job, Nanoseconds now);

  // The first broken rule as a sentence, "" when all hold: every held reply has a timer.
  std::string check() const;

 private:
  struct SyncPoll {
    ReplyTo to;
    Nanoseconds until{};
  };
  struct JobPoll {
    ReplyTo to;
    PollFor what = PollFor::any_change;
    Nanoseconds until{};
  };
  // A heap with the earliest timer on top that lets check() look inside.
  struct Heap : std::priority_queue<Timer, std::vector<Timer>, std::greater<>> {
    const std::vector<Timer>& entries() const { return c; }
  };
  // Takes out the job's replies for which `answers` is true; the others keep their order.
  template <typename Answers>
  std::vector<ReplyTo> take(uint64_t job, Answers answers);

  Heap timers_;
  std::unordered_map<WorkerNo, SyncPoll> syncs_;
  std::map<uint64_t, std::vector<JobPoll>> jobs_;
};

}  // namespace enginery
