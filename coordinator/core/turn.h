// One event on its way through the core: the time at which it is handled, and where its effects go.
//
// Where: Core makes a Turn for each event and hands it down as a parameter; Queue, Targets and Jobs
// write their effects into it and keep nothing of it. Threads: one thread at a time, as Core.
#pragma once

#include <utility>

#include "coordinator/core/core.h"

namespace enginery {

// Workers are numbered in the order in which they were first seen since the start.
using WorkerNo = uint32_t;

// A target of a job, where it waits for a step.
struct Waiter {
  uint64_t job = 0;
  uint32_t target = 0;  // its place in the job's request
  auto operator<=>(const Waiter&) const = default;
};

// What is due at a time. Timers of one instant fire in the order of these kinds.
enum class TimerKind : uint8_t {
  worker_poll,  // a worker's Sync must be answered; id: the worker's number
  worker_lost,  // a worker may have fallen silent; id: the worker's number
  job_poll,     // a client's WaitJob must be answered; id: the job's number
  back_off,     // a step may be tried again; id: the step
  sign_again,   // a signature may be asked for again; id: the step
  examine,      // a quarantined worker tests itself again; id: the worker's number
  forget,       // a lost worker may be forgotten; id: the worker's number
};

struct Timer {
  Nanoseconds at{};  // monotonic
  TimerKind kind = TimerKind::worker_poll;
  uint64_t id = 0;
  auto operator<=>(const Timer&) const = default;
};

class Turn {
 public:
  // `effects` outlives the turn.
  Turn(Now time, Effects& effects) : now(time), out(effects) {}

  // Adds a row change to the event's transaction.
  void save(RowChange row) { out.rows.push_back(std::move(row)); }
  // Appends to the event log of the job; of the farm itself where `job` is 0.
  void record(uint64_t job, const char* kind, std::vector<NamedText> fields) {
    save(AppendEvent{job == 0 ? "" : job_id(job), kind, std::move(fields)});
  }
  void reply(const ReplyTo& to, Body body) { out.replies.push_back({to, std::move(body)}); }
  // Replies with an error that a person reads.
  void refuse(const ReplyTo& to, ErrorCode code, std::string message) {
    reply(to, ErrorReply{{code, std::move(message)}});
  }
  // Asks for a timer; Core arms it when the turn is over.
  void wake(Nanoseconds at, TimerKind kind, uint64_t id) { timers.push_back({at, kind, id}); }

  const Now now;
  Effects& out;
  std::vector<Timer> timers;
};

}  // namespace enginery
