#include "coordinator/core/event_handler.h"

#include <algorithm>

namespace enginery {
namespace {

bool is_of_worker(TimerKind kind) {
  return kind == TimerKind::worker_poll || kind == TimerKind::worker_lost ||
         kind == TimerKind::examine || kind == TimerKind::forget;
}

}  // namespace

EventHandler::EventHandler(CoreOptions options, LoadedQueue queue)
    : options_(std::move(options)),
      queue_(options_),
      targets_(queue_, options_),
      jobs_(queue_, targets_, polls_, options_) {
  std::map<uint64_t, JobRow> jobs = std::move(queue.jobs);
  queue_.load(std::move(queue));
  jobs_.load(std::move(jobs));
}

Effects EventHandler::start(Now now) {
  Effects effects;
  Turn turn(now, effects);
  queue_.start(turn);
  jobs_.start(turn);
  finish(turn);
  return effects;
}

Effects EventHandler::step(CoreEvent event, Now now) {
  Effects effects;
  Turn turn(now, effects);
  notice_stall(turn);
  handle(event, turn);
  finish(turn);
  return effects;
}

void EventHandler::finish(Turn& turn) {
  jobs_.forget_old(turn);
  for (const WorkerNo worker : queue_.take_dismissed())
    if (queue_.has(worker)) release(worker, turn);
  dispatch(turn);
  polls_.arm(turn.timers);
  now_ = turn.now;
}

// An event was due and did not come: this process, its disk or its machine stood still. What the
// workers said meanwhile waits in the socket.
void EventHandler::notice_stall(Turn& turn) {
  const std::optional<Nanoseconds> due = polls_.next_timer();
  if (!due) return;
  const Nanoseconds stall = turn.now.monotonic - std::max(*due, now_.monotonic);
  if (stall <= options_.noticed_stall) return;
  queue_.extend_deadlines(stall);
  turn.out.notes.push_back("the coordinator stood still for " +
                           std::to_string(static_cast<int>(to_seconds(stall))) +
                           " s; its workers get as much time more");
}

void EventHandler::handle(CoreEvent& event, Turn& turn) {
  if (auto* request = std::get_if<Request>(&event)) {
    query(*request, turn);
  } else if (auto* answer = std::get_if<LookupAnswer>(&event)) {
    looked_up(*answer, turn);
  } else if (auto* signed_engine = std::get_if<SignAnswer>(&event)) {
    signature(*signed_engine, turn);
  } else {
    while (const auto timer = polls_.take_due(turn.now.monotonic)) fire(*timer, turn);
  }
}

void EventHandler::report(const StepEvent& event, Turn& turn) {
  if (const auto* moved = std::get_if<StepMoved>(&event)) {
    for (const Waiter& waiter : moved->waiters) jobs_.touch(waiter.job, turn);
  } else if (const auto* committed = std::get_if<StepCommitted>(&event)) {
    for (const Waiter& waiter : committed->waiters)
      report(waiter, targets_.use(waiter, *committed, turn), turn);
  } else if (const auto* end = std::get_if<StepGaveUp>(&event)) {
    for (const Waiter& waiter : end->waiters)
      report(waiter, targets_.give_up(waiter, *end, turn), turn);
  }
}

void EventHandler::report(const Waiter& at, Change change, Turn& turn) {
  if (change != Change::none) jobs_.update(at.job, turn);
  if (change == Change::ended) jobs_.answer_submit(at.job, turn);
}

void EventHandler::looked_up(const LookupAnswer& answer, Turn& turn) {
  if (answer.token.job == 0) return jobs_.dry_run_answer(answer, turn);
  const std::optional<Change> change = targets_.looked_up(answer, turn);
  if (!change) return;
  report({answer.token.job, answer.token.target}, *change, turn);
  jobs_.answer_submit(answer.token.job, turn);
}

void EventHandler::signature(const SignAnswer& answer, Turn& turn) {
  if (!queue_.awaits_signature(answer.step, answer.epoch)) return;
  if (!answer.engine) return report(queue_.signing_failed(answer.step, answer.fault, turn), turn);
  StepResult result = targets_.signed_result_of(queue_.step(answer.step), *answer.engine);
  report(queue_.commit_signature(answer.step, std::move(result), turn), turn);
}

void EventHandler::fire(const Timer& timer, Turn& turn) {
  const auto worker = static_cast<WorkerNo>(timer.id);
  if (is_of_worker(timer.kind) && !queue_.has(worker)) return;
  switch (timer.kind) {
    case TimerKind::worker_poll:
      return end_sync_poll(worker, turn);
    case TimerKind::worker_lost:
      if (!queue_.falls_silent(worker, turn)) return;
      polls_.take_sync(worker);
      return report(
          queue_.lose(worker, "worker " + queue_.worker(worker).sync.worker + " fell silent", turn),
          turn);
    case TimerKind::job_poll:
      return jobs_.end_polls(timer.id, turn);
    case TimerKind::back_off:
      return queue_.make_ready(timer.id, turn);
    case TimerKind::sign_again: {
      const LiveStep* step = queue_.find(timer.id);
      if (step == nullptr || step->row.state != StepState::committing || step->waiters.empty())
        return;
      return targets_.ask_for_signature(timer.id, turn);
    }
    case TimerKind::examine:
      queue_.examine(worker, turn);
      return release(worker, turn);
    case TimerKind::forget:
      return queue_.expire(worker, turn);
  }
}

std::string EventHandler::check() const {
  for (const std::string& rule :
       {queue_.check(), targets_.check(), jobs_.check(now_), polls_.check()})
    if (!rule.empty()) return rule;
  for (const auto& [number, worker] : queue_.workers())
    if (worker.listening != polls_.sync_deadline(worker.number).has_value())
      return "worker '" + worker.sync.worker + "' " +
             (worker.listening ? "listens and has no held Sync"
                               : "has a held Sync and does not "
                                 "listen");
  return "";
}

// --- Core: all of it is in the event handler

Core::Core(CoreOptions options, LoadedQueue queue)
    : inside_(std::make_unique<EventHandler>(std::move(options), std::move(queue))) {}
Core::~Core() = default;

Effects Core::start(Now now) {
  return inside_->start(now);
}

Effects Core::step(CoreEvent event, Now now) {
  return inside_->step(std::move(event), now);
}

std::optional<Nanoseconds> Core::next_timer() const {
  return inside_->polls().next_timer();
}

std::vector<Digest> Core::engine_keys(const std::string& job) const {
  std::vector<Digest> keys;
  if (const LiveJob* found = inside_->jobs().find(job))
    for (const LiveTarget& target : inside_->targets().build(found->number).targets)
      keys.push_back(target.keys.engine);
  return keys;
}

std::optional<JobView> Core::view(const std::string& job) const {
  const LiveJob* found = inside_->jobs().find(job);
  if (found == nullptr) return std::nullopt;
  return inside_->jobs().view(*found, Jobs::Detail::steps, inside_->now());
}

std::optional<std::string> Core::tenant_of(const std::string& job) const {
  const LiveJob* found = inside_->jobs().find(job);
  if (found == nullptr) return std::nullopt;
  return inside_->targets().build(found->number).request.tenant;
}

std::vector<std::string> Core::job_ids(bool ended) const {
  return inside_->jobs().ids_of(ended);
}

std::string Core::check() const {
  return inside_->check();
}

}  // namespace enginery
