// Who is to blame for an attempt that failed: the step's key, the worker, or the network between.
//
// A step that failed on a worker goes to another one that lives. A worker on which several steps
// failed that did not fail elsewhere is quarantined: it gets no work until it has passed its
// self-test or somebody says so. A process that ended while it ran a step is held against the
// step's key (key_troubles.h), unless the worker comes back alive.
#include <algorithm>

#include "coordinator/core/queue.h"
#include "coordinator/core/retry.h"

namespace enginery {
namespace {

constexpr size_t kMaxReasonBytes = 300;  // of what a worker says in the reason of its quarantine

}  // namespace

std::optional<Fault> Queue::quarantine_of(const Digest& key, StepKind kind, Now now) const {
  return troubles_.quarantine_of(key, name_of(kind), now);
}

bool Queue::avoids(const LiveWorker& worker, const LiveStep& step) const {
  if (!step.failed_on.count(worker.sync.worker)) return false;
  const std::set<WorkerNo>& serving = pools_.serving(step.pool);
  return std::any_of(serving.begin(), serving.end(), [&](WorkerNo other) {
    return !step.failed_on.count(workers_.at(other).sync.worker);
  });
}

// What the attempts before a restart say.
void Queue::remember_attempts(LiveStep& step) {
  for (const AttemptRow& attempt : step.row.attempts) {
    if (!attempt.outcome) continue;
    if (is_avoided_after(*attempt.outcome)) step.failed_on.insert(attempt.worker);
    if (attempt.outcome == OutcomeKind::worker_lost &&
        (troubles_.knows(step.row.key) || attempt.message.ends_with(kBeforeItBegan)))
      silent_[{attempt.worker, attempt.incarnation}].push_back({step.row.id, attempt.epoch});
  }
}

// A step that fails on a second worker, too, says nothing about either.
void Queue::blame(LiveStep& step, OutcomeKind kind, const std::string& message, Turn& turn) {
  const StepRow& row = step.row;
  const auto number = worker_named(row.worker);
  if (row.worker.empty() || !number) return;
  if (is_kill(kind) && !message.ends_with(kBeforeItBegan))
    troubles_.add_kill(row.key, row.worker + ": " + message, turn);
  if (!is_avoided_after(kind)) return;
  step.failed_on.insert(row.worker);
  if (step.failed_on.size() > 1) {
    for (const std::string& name : step.failed_on)
      if (const auto other = worker_named(name)) workers_.at(*other).failures.erase(row.key);
    return;
  }
  LiveWorker& worker = workers_.at(*number);
  if (counts_against_worker(kind)) worker.failures[row.key] = row.kind;
  if (worker.failures.size() < kQuarantineAfterSteps || !worker.quarantine.empty()) return;
  quarantine(worker,
             std::to_string(worker.failures.size()) +
                 " steps failed on it and on no other worker; the latest, " + name_of(row.kind) +
                 ": " + message.substr(0, kMaxReasonBytes),
             turn);
}

void Queue::note_success(const LiveStep& step, Turn& turn) {
  troubles_.clear(step.row.key, turn);
  const auto number = worker_named(step.row.worker);
  if (!number) return;
  LiveWorker& worker = workers_.at(*number);
  std::erase_if(worker.failures,
                [&](const auto& failure) { return failure.second == step.row.kind; });
  if (measures(step.row.kind)) worker.quarantines = 0;
}

// It was silent, but its process lives: the network or the coordinator stood still. Its former
// processes are gone for good.
void Queue::absolve(LiveWorker& worker, Turn& turn) {
  const auto found = silent_.lower_bound({worker.sync.worker, worker.sync.incarnation});
  silent_.erase(silent_.lower_bound({worker.sync.worker, 0}), found);
  if (found == silent_.end() ||
      found->first != std::pair(worker.sync.worker, worker.sync.incarnation))
    return;
  for (const auto& [id, epoch] : found->second) {
    const auto known = steps_.find(id);
    if (known == steps_.end()) continue;
    LiveStep& step = known->second;
    worker.failures.erase(step.row.key);
    for (AttemptRow& attempt : step.row.attempts) {
      if (attempt.epoch != epoch || attempt.outcome != OutcomeKind::worker_lost) continue;
      const bool was_counted = !attempt.message.ends_with(kBeforeItBegan);
      attempt.outcome = OutcomeKind::partitioned;
      attempt.message += ", and came back alive";
      turn.save(SaveAttempt{attempt});
      turn.record(step.row.job, "partitioned",
                  {{"step", std::to_string(id)}, {"worker", attempt.worker}});
      if (was_counted) troubles_.take_back(step.row.key, turn);
      step.failed_on.erase(worker.sync.worker);
    }
  }
  silent_.erase(found);
}

// The first self-test is made at once; one that finds nothing is not believed again so soon.
void Queue::quarantine(LiveWorker& worker, const std::string& reason, Turn& turn) {
  const std::string& name = worker.sync.worker;
  worker.quarantine = reason;
  worker.failures.clear();
  quarantines_[name] = {name, reason, turn.now.wall.count()};
  turn.save(SaveQuarantine{quarantines_[name]});
  turn.record(0, "quarantined", {{"worker", name}, {"reason", reason}});
  turn.out.notes.push_back("worker " + name + " is quarantined: " + reason);
  place_worker(worker);
  Nanoseconds wait{};
  for (int i = 0; i < worker.quarantines && wait < options_.examine_at_most; ++i)
    wait = std::max(2 * wait, options_.examine_again);
  ++worker.quarantines;
  turn.wake(turn.now.monotonic + std::min(wait, options_.examine_at_most), TimerKind::examine,
            worker.number);
}

void Queue::end_quarantine(LiveWorker& worker, Turn& turn) {
  if (worker.quarantine.empty()) return;
  const std::string& name = worker.sync.worker;
  worker.quarantine.clear();
  worker.exam = 0;
  quarantines_.erase(name);
  turn.save(SaveQuarantine{{name, "", 0}});
  turn.record(0, "quarantine_ended", {{"worker", name}});
  place_worker(worker);
}

void Queue::examine(WorkerNo number, Turn& turn) {
  LiveWorker& worker = workers_.at(number);
  if (worker.quarantine.empty()) return;
  worker.exam = static_cast<uint64_t>(turn.now.wall.count());
  worker.exam_told = false;
}

void Queue::take_exam(LiveWorker& worker, Turn& turn) {
  if (worker.exam == 0 || worker.sync.examined != worker.exam) return;
  worker.exam = 0;
  if (worker.sync.exam_problem.empty()) return end_quarantine(worker, turn);
  quarantine(worker, "its self-test failed: " + worker.sync.exam_problem.substr(0, kMaxReasonBytes),
             turn);
}

}  // namespace enginery
