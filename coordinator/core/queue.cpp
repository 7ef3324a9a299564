// Steps: how they enter the queue, who waits for them, and how their attempts end.
#include "coordinator/core/queue.h"

#include "coordinator/core/retry.h"

namespace enginery {
namespace {

constexpr double kNewestShare = 0.3;  // of the newest time in what a step usually takes

}  // namespace

std::string sku_pool(const std::string& sku, const std::string& toolchain) {
  return "sku " + sku + " " + toolchain;
}
std::string provisional_pool(const std::string& sku) {
  return "untuned " + sku;
}

std::string Queue::pool_of(const StepRow& step) const {
  const Step* row = row_of(step.kind);
  if (row != nullptr && row->needs == Needs::nothing) return kAnyPool;
  return step.provisional ? provisional_pool(step.sku) : sku_pool(step.sku, step.toolchain);
}

void Queue::load(LoadedQueue rows) {
  for (auto& [name, row] : rows.skus) skus_[name].row = std::move(row);
  troubles_.load(std::move(rows.troubles));
  quarantines_ = std::move(rows.quarantines);
  wishes_ = std::move(rows.wishes);
  for (auto& [id, row] : rows.steps) {
    next_step_ = std::max(next_step_, id + 1);
    LiveStep& step = steps_[id];
    step.row = std::move(row);
    if (step.row.assists != 0) {
      if (const auto leader = steps_.find(step.row.assists); leader != steps_.end())
        join_leader(step, leader->second);
    } else if (!is_end(step.row.state)) {
      in_flight_[step.row.key] = id;
    }
    remember_attempts(step);
  }
}

void Queue::start(Turn& turn) {
  started_ = turn.now.monotonic;
  for (auto& [id, step] : steps_) {
    if (is_end(step.row.state) || step.row.worker.empty()) continue;
    SyncRequest last;
    last.worker = step.row.worker;
    last.incarnation = step.row.incarnation;
    last.sku = step.row.sku;
    last.device = step.row.device;
    last.state = Running{{job_id(step.row.job), id, step.row.epoch}, {}};
    LiveWorker& worker = workers_.at(worker_of(last, turn));
    worker.sync = last;
    worker.lease = id;
    devices_[last.device].insert(worker.number);
    step.progress_at = step.leased_at = turn.now.monotonic;
    step.pool = pool_of(step.row);
    note_leader(step);
  }
}

const LiveStep* Queue::find(uint64_t id) const {
  const auto found = steps_.find(id);
  return found == steps_.end() ? nullptr : &found->second;
}

std::optional<uint64_t> Queue::in_flight(const Digest& key) const {
  const auto found = in_flight_.find(key);
  if (found == in_flight_.end()) return std::nullopt;
  return found->second;
}

uint64_t Queue::add(StepRow row, Bytes key_bytes, Turn& turn) {
  const uint64_t id = next_step_++;
  LiveStep& step = steps_[id];
  row.id = id;
  step.row = std::move(row);
  in_flight_[step.row.key] = id;
  if (const auto before = failed_before_.extract(step.row.key); !before.empty())
    step.failed_on = std::move(before.mapped());
  turn.save(RecordAction{std::move(key_bytes)});
  turn.save(SaveStep{step.row});
  turn.record(
      step.row.job, "queued",
      {{"step", std::to_string(id)}, {"kind", name_of(step.row.kind)}, {"sku", step.row.sku}});
  return id;
}

void Queue::join(uint64_t step, const Waiter& waiter, const Share& share) {
  steps_.at(step).waiters.insert(waiter);
  pools_.add_job(waiter.job, share);
}

bool Queue::leave(uint64_t id, const Waiter& waiter) {
  LiveStep& step = steps_.at(id);
  step.waiters.erase(waiter);
  const bool ready = pools_.holds(id);
  pools_.remove(id);
  if (step.waiters.empty()) return true;
  if (ready) pools_.add(step.pool, id, step.waiters);
  return false;
}

void Queue::make_ready(uint64_t id, Turn& turn) {
  const auto step = steps_.find(id);  // a back-off may outlive it
  if (step != steps_.end() && step->second.row.state == StepState::queued)
    enqueue(step->second, turn);
}

void Queue::enqueue(LiveStep& step, Turn& turn) {
  if (step.waiters.empty() || step.retry_at > turn.now.monotonic) return;
  step.pool = pool_of(step.row);
  pools_.remove(step.row.id);
  pools_.add(step.pool, step.row.id, step.waiters);
  dirty_pools_.insert(step.pool);
  for (const WorkerNo number : freed_) {
    const LiveWorker& worker = workers_.at(number);
    if (std::find(worker.pools.begin(), worker.pools.end(), step.pool) != worker.pools.end())
      freed_devices_.insert(worker.sync.device);
  }
}

// Closes the lease. What becomes of the step is the caller's business.
void Queue::end_attempt(LiveStep& step, OutcomeKind kind, const std::string& message, Turn& turn) {
  if (!step.row.attempts.empty() && !step.row.attempts.back().outcome) {
    AttemptRow& attempt = step.row.attempts.back();
    attempt.ended_ns = turn.now.wall.count();
    attempt.outcome = kind;
    attempt.message = message.substr(0, 4000);
    turn.save(SaveAttempt{attempt});
    turn.record(step.row.job, "attempt_ended",
                {{"step", std::to_string(step.row.id)},
                 {"worker", attempt.worker},
                 {"outcome", to_string(kind)}});
    settle(step, kind, turn);
    if (kind != OutcomeKind::succeeded)
      blame(step, kind, message, turn);
    else if (step.row.assists == 0)
      note_success(step, turn);
  }
  put_back(step, kind);
  drop_lease(step);
}

// The client pays for the time that the attempt took, and later guesses go by it.
void Queue::settle(LiveStep& step, OutcomeKind kind, Turn& turn) {
  if (step.charge.client.empty()) return;
  const double taken_s = to_seconds(turn.now.monotonic - step.leased_at);
  pools_.charge(step.charge, taken_s, turn.now.monotonic);
  pools_.end(step.charge);
  step.charge = {};
  if (kind != OutcomeKind::succeeded || step.row.assists != 0) return;
  double& usual = usual_seconds_.try_emplace({step.pool, step.row.kind}, taken_s).first->second;
  usual += (taken_s - usual) * kNewestShare;
}

// The worker does not hold the step any longer; whether it still runs it shows in what it says.
void Queue::drop_lease(LiveStep& step) {
  const auto number = worker_by_name_.find(step.row.worker);
  if (number != worker_by_name_.end()) {
    LiveWorker& worker = workers_.at(number->second);
    if (worker.lease == step.row.id) {
      worker.lease = 0;
      dirty_devices_.insert(worker.sync.device);
      place_worker(worker);
    }
  }
  step.row.worker.clear();
  step.row.incarnation = 0;
  step.row.device.clear();
}

StepEvent Queue::succeeded(LiveStep& step, const Outcome& outcome,
                           const std::vector<Digest>& missing, Turn& turn) {
  if (step.row.assists != 0) {
    end_attempt(step, OutcomeKind::succeeded, "", turn);
    return end_assistant(step, OutcomeKind::succeeded, turn);
  }
  const Step* row = row_of(step.row.kind);
  const std::string needed = row == nullptr ? "" : needed_output(*row, step.row.provisional);
  const std::string worker = step.row.worker;
  std::string problem = problem_of_report(outcome, needed, missing);
  if (problem.empty()) problem = forged_output(outcome, options_.steps);
  if (!problem.empty()) {
    const Fault fault{ErrorCode::internal, "worker " + step.row.worker + " reported " + problem};
    end_attempt(step, OutcomeKind::internal, fault.message, turn);
    return retry_or_give_up(step, OutcomeKind::internal, fault, turn);
  }
  end_attempt(step, OutcomeKind::succeeded, "", turn);
  StepResult result;
  result.outputs = outcome.outputs;
  result.metrics = outcome.metrics;
  result.facts = outcome.facts;
  state_worker(result.facts, name_of(step.row.kind), worker);
  return commit(step, std::move(result), turn);
}

StepEvent Queue::commit(LiveStep& step, StepResult result, Turn& turn) {
  StepRow& row = step.row;
  pools_.remove(row.id);
  dismiss_assistants(step, turn);
  result.generation = row.generation;
  row.state = result.success ? StepState::done : StepState::failed;
  row.fault = result.fault;
  ++row.commits;
  in_flight_.erase(row.key);
  turn.save(CommitResult{row.key, row.id, row.epoch, result});
  turn.save(SaveStep{row});
  turn.record(row.job, "committed",
              {{"step", std::to_string(row.id)}, {"epoch", std::to_string(row.epoch)}});
  return StepCommitted{row.kind,
                       row.key,
                       row.generation,
                       row.id,
                       row.job,
                       std::move(result),
                       std::exchange(step.waiters, {})};
}

StepEvent Queue::retry_or_give_up(LiveStep& step, OutcomeKind kind, const Fault& fault,
                                  Turn& turn) {
  if (step.row.assists != 0) return end_assistant(step, kind, turn);
  const int tries = count_tries(step.row.attempts, kind);
  const RetryRule& rule = retry_rule(kind);
  if (is_kill(kind)) {
    if (const auto quarantine = quarantine_of(step.row.key, step.row.kind, turn.now))
      return give_up(step, StepState::quarantined, *quarantine, turn);
  }
  if (tries >= rule.attempts) return give_up(step, StepState::failed, fault, turn);
  if (step.waiters.empty())
    return give_up(step, StepState::cancelled, {ErrorCode::cancelled, "nobody waits for it"}, turn);
  step.row.state = StepState::queued;
  turn.save(SaveStep{step.row});
  if (rule.back_off > Nanoseconds(0)) {
    step.retry_at = turn.now.monotonic + rule.back_off * tries;
    turn.wake(step.retry_at, TimerKind::back_off, step.row.id);
  }
  enqueue(step, turn);
  return StepMoved{step.waiters};
}

// The end without a result: nothing is kept as an answer for later jobs.
StepGaveUp Queue::give_up(LiveStep& step, StepState state, const Fault& fault, Turn& turn) {
  pools_.remove(step.row.id);
  dismiss_assistants(step, turn);
  step.row.state = state;
  step.row.fault = fault;
  in_flight_.erase(step.row.key);
  turn.save(SaveStep{step.row});
  turn.record(step.row.job, "gave_up",
              {{"step", std::to_string(step.row.id)}, {"message", fault.message}});
  return StepGaveUp{fault, false, std::exchange(step.waiters, {})};
}

// Whoever waits walks its way again, and finds what is gone; a step with the same key that follows
// goes to another worker, in case this one only says so.
StepGaveUp Queue::inputs_gone(LiveStep& step, const Fault& fault, Turn& turn) {
  if (!step.failed_on.empty()) failed_before_[step.row.key] = step.failed_on;
  StepGaveUp event = give_up(step, StepState::failed, fault, turn);
  event.inputs_gone = true;
  return event;
}

std::optional<WorkerNo> Queue::cancel(uint64_t id, Turn& turn) {
  LiveStep& step = steps_.at(id);
  if (is_end(step.row.state)) return std::nullopt;
  const std::string holder = step.row.worker;
  end_attempt(step, OutcomeKind::cancelled, "nobody wants the step any longer", turn);
  if (step.row.assists != 0) {
    end_assistant(step, OutcomeKind::cancelled, turn);
    return worker_named(holder);
  }
  give_up(step, StepState::cancelled, {ErrorCode::cancelled, "cancelled"}, turn);
  return worker_named(holder);
}

// --- the coordinator's own step

void Queue::ask_for_signature(uint64_t id, UnsignedEngine engine, Turn& turn) {
  LiveStep& step = steps_.at(id);
  if (step.signing || step.retry_at > turn.now.monotonic) return;
  // An attempt that is still open was cut off by a restart.
  end_attempt(step, OutcomeKind::internal, "the coordinator restarted", turn);
  step.signing = true;
  ++step.row.epoch;
  step.row.attempts.push_back(
      {id, step.row.epoch, "coordinator", 0, turn.now.wall.count(), 0, std::nullopt, ""});
  turn.save(SaveStep{step.row});
  turn.save(SaveAttempt{step.row.attempts.back()});
  turn.out.signing.push_back({id, step.row.epoch, std::move(engine)});
}

bool Queue::awaits_signature(uint64_t id, uint64_t epoch) const {
  const LiveStep* step = find(id);
  return step != nullptr && step->row.state == StepState::committing && step->row.epoch == epoch &&
         step->signing;
}

StepEvent Queue::commit_signature(uint64_t id, StepResult result, Turn& turn) {
  LiveStep& step = steps_.at(id);
  step.signing = false;
  end_attempt(step, OutcomeKind::succeeded, "", turn);
  return commit(step, std::move(result), turn);
}

StepEvent Queue::signing_failed(uint64_t id, const Fault& fault, Turn& turn) {
  LiveStep& step = steps_.at(id);
  step.signing = false;
  // What the engine's reader refuses it refuses for ever.
  const bool refused = fault.code == ErrorCode::untrusted || fault.code == ErrorCode::incompatible;
  end_attempt(step, refused ? OutcomeKind::failed : OutcomeKind::storage, fault.message, turn);
  if (refused) return give_up(step, StepState::failed, fault, turn);
  const bool gone = fault.code == ErrorCode::not_found || fault.code == ErrorCode::corrupt_data;
  const RetryRule& rule = retry_rule(OutcomeKind::storage);
  const int tries = count_tries(step.row.attempts, OutcomeKind::storage);
  if (!gone && tries < rule.attempts) {
    step.retry_at = turn.now.monotonic + rule.back_off * tries;
    turn.wake(step.retry_at, TimerKind::sign_again, id);
    return {};
  }
  if (gone) return inputs_gone(step, fault, turn);
  return give_up(step, StepState::failed, fault, turn);
}

}  // namespace enginery
