// Workers: what a Sync says, and what follows from it for the worker's lease.
//
// Every reply can be lost and every request repeated: what a worker is told follows from its own
// words and the leases, never from what it was told before, except to keep `cancel` and `drain`
// from being repeated in a tight loop.
#include <algorithm>

#include "coordinator/core/queue.h"
#include "coordinator/core/retry.h"

namespace enginery {
namespace {

constexpr size_t kMaxHealthBytes = 16 * 1024;
constexpr size_t kMaxSkusCompiled = 1000;
// Of a fault that a worker reports: 256 targets that failed so fit one message.
constexpr size_t kMaxFaultBytes = 2000;

}  // namespace

const char* Queue::problem_of(const SyncRequest& sync) {
  if (sync.worker.empty() || sync.worker.size() > kMaxNameBytes)
    return "a worker needs a name of at most 200 bytes";
  if (sync.sku.empty() || sync.sku.size() > kMaxNameBytes) return "a worker needs a SKU";
  if (sync.device.empty() || sync.device.size() > kMaxNameBytes)
    return "a worker needs a device id";
  if (sync.toolchain.size() > 4096 || sync.host.size() > 1024 || sync.kind.size() > 100)
    return "a worker's text is too long";
  if (sync.health.size() + sync.exam_problem.size() > kMaxHealthBytes)
    return "a worker's health text is too long";
  // Each is a pool for good.
  const auto too_long = [](const std::string& sku) { return sku.size() > kMaxNameBytes; };
  if (sync.compiles_for.size() > kMaxSkusCompiled ||
      std::any_of(sync.compiles_for.begin(), sync.compiles_for.end(), too_long))
    return "a worker compiles for too many SKUs";
  return nullptr;
}

WorkerNo Queue::worker_of(const SyncRequest& sync, Turn& turn) {
  if (const auto known = worker_named(sync.worker)) return *known;
  const WorkerNo number = next_worker_++;
  worker_by_name_[sync.worker] = number;
  LiveWorker& worker = workers_[number];
  worker.number = number;
  if (const auto held = quarantines_.find(sync.worker); held != quarantines_.end()) {
    worker.quarantine = held->second.reason;
    examine(number, turn);
  }
  worker.seen = turn.now.monotonic;
  turn.wake(turn.now.monotonic + options_.worker_lost_after, TimerKind::worker_lost, number);
  return number;
}

std::optional<WorkerNo> Queue::worker_named(const std::string& name) const {
  const auto found = worker_by_name_.find(name);
  if (found == worker_by_name_.end()) return std::nullopt;
  return found->second;
}

const std::set<WorkerNo>* Queue::sharers_of(const std::string& device) const {
  const auto found = devices_.find(device);
  return found == devices_.end() ? nullptr : &found->second;
}

Reception Queue::receive(WorkerNo number, const SyncRequest& sync) const {
  const LiveWorker& worker = workers_.at(number);
  // An older incarnation gives way, unless the newer one fell silent: then the clock went back
  // between the two.
  if (sync.incarnation < worker.sync.incarnation && !worker.lost) return Reception::outlived;
  const bool same = sync.incarnation == worker.sync.incarnation;
  if (worker.reported && same && sync.sequence < worker.sync.sequence) return Reception::overtake;
  return same ? Reception::take : Reception::restart;
}

bool Queue::update(WorkerNo number, const SyncRequest& sync, Turn& turn) {
  LiveWorker& worker = workers_.at(number);
  const bool same = worker.sync.incarnation == sync.incarnation;
  const bool fresh = !same || !worker.reported;
  const bool repeated = !fresh && worker.sync.sequence == sync.sequence;
  const bool progressed = !same || !(sync.state == worker.sync.state);
  if (fresh) {
    // The same process in the eyes of a coordinator that has just started: orders of meanwhile
    // stay.
    if (!same) worker.drain = worker.exit = worker.drain_told = worker.resume = false;
    turn.record(0, "worker",
                {{"worker", sync.worker}, {"sku", sync.sku}, {"pid", std::to_string(sync.pid)}});
  }
  if (worker.sync.device != sync.device) {
    devices_[worker.sync.device].erase(number);
    dirty_devices_.insert(worker.sync.device);
    devices_[sync.device].insert(number);
  }
  if (fresh || worker.sync.sku != sync.sku || worker.sync.toolchain != sync.toolchain ||
      worker.sync.compiles_for != sync.compiles_for) {
    pools_.remove_idle(worker.pools, number);
    pools_.remove_serving(worker.pools, number);
    worker.pools = {kAnyPool, sku_pool(sync.sku, sync.toolchain)};
    if (!sync.toolchain.empty()) worker.pools.push_back(sku_pool(sync.sku, ""));
    for (const std::string& sku : sync.compiles_for) worker.pools.push_back(provisional_pool(sku));
  }
  const bool back = worker.lost || !worker.reported;
  if (sync.prefer_idle && !worker.sync.prefer_idle) worker.resume_told = false;
  worker.sync = sync;
  if (fresh) recall_wish(worker, turn);
  worker.seen = turn.now.monotonic;
  worker.reported = true;
  worker.listening = true;
  if (progressed) worker.cancel_told.reset();
  if (std::exchange(worker.lost, false))
    turn.wake(turn.now.monotonic + options_.worker_lost_after, TimerKind::worker_lost, number);
  if (back) absolve(worker, turn);
  see_sku(sync, turn);
  take_exam(worker, turn);
  return repeated;
}

// It outlives the coordinator, which may die before the worker has heard of it.
void Queue::note_wish(const LiveWorker& worker, Wish wish, Turn& turn) {
  const std::string& name = worker.sync.worker;
  if (wish == Wish::none && wishes_.erase(name) == 0) return;
  const WorkerWish noted{name, wish, worker.sync.incarnation};
  if (wish != Wish::none) wishes_[name] = noted;
  turn.save(SaveWish{noted});
}

void Queue::recall_wish(LiveWorker& worker, Turn& turn) {
  const auto noted = wishes_.find(worker.sync.worker);
  if (noted == wishes_.end()) return;
  if (noted->second.incarnation != worker.sync.incarnation)
    return note_wish(worker, Wish::none, turn);  // it was of a process that is gone
  const Wish wish = noted->second.wish;
  worker.drain = wish == Wish::drain || wish == Wish::exit;
  worker.exit = wish == Wish::exit;
  worker.resume = wish == Wish::resume;
  worker.resume_told = !worker.sync.prefer_idle;
}

void Queue::see_sku(const SyncRequest& sync, Turn& turn) {
  SeenSku& row = skus_[{sync.sku, sync.toolchain}].row;
  if (row.sku == sync.sku && row.kind == sync.kind) return;
  row = {sync.sku, sync.kind, sync.toolchain, turn.now.wall.count()};
  turn.save(SaveSku{row});
}

StepEvent Queue::heed(WorkerNo number, const std::vector<Digest>& missing, Turn& turn) {
  LiveWorker& worker = workers_.at(number);
  StepEvent event;
  if (const auto* run = std::get_if<Running>(&worker.sync.state)) {
    event = running(worker, *run, turn);
  } else if (const auto* end = std::get_if<Finished>(&worker.sync.state)) {
    event = finished(worker, *end, missing, turn);
  } else if (worker.lease != 0 && steps_.at(worker.lease).row.state == StepState::running) {
    LiveStep& step = steps_.at(worker.lease);
    const Fault fault{ErrorCode::internal, "the worker forgot the step"};
    end_attempt(step, OutcomeKind::internal, fault.message, turn);
    event = retry_or_give_up(step, OutcomeKind::internal, fault, turn);
  }
  place_worker(worker);
  dirty_devices_.insert(worker.sync.device);  // it may have stopped something
  return event;
}

StepEvent Queue::running(LiveWorker& worker, const Running& state, Turn& turn) {
  if (!owns(worker.number, state.ref)) return {};  // order_for tells it to stop
  LiveStep& step = steps_.at(worker.lease);
  const double taken_s = to_seconds(turn.now.monotonic - step.leased_at);
  if (taken_s > step.charge.seconds) pools_.charge(step.charge, taken_s, turn.now.monotonic);
  const bool moved = !(step.progress == state.progress);
  if (step.progress.phase != state.progress.phase && !state.progress.phase.empty())
    turn.record(
        step.row.job, "phase",
        {{"step", std::to_string(step.row.id)}, {"phase", state.progress.phase.substr(0, 200)}});
  if (moved) {
    step.progress = state.progress;
    step.progress_at = turn.now.monotonic;
  }
  if (turn.now.monotonic - step.progress_at > options_.no_progress) {
    const std::string message = "no progress in phase '" + step.progress.phase + "'";
    end_attempt(step, OutcomeKind::internal, message, turn);
    return retry_or_give_up(step, OutcomeKind::internal, {ErrorCode::timed_out, message}, turn);
  }
  if (step.row.state == StepState::leased) {
    step.row.state = StepState::running;
    turn.save(SaveStep{step.row});
    turn.record(step.row.job, "running",
                {{"step", std::to_string(step.row.id)}, {"worker", step.row.worker}});
  } else if (!moved) {
    return {};
  }
  return StepMoved{waiters_of(step)};
}

StepEvent Queue::finished(LiveWorker& worker, const Finished& state,
                          const std::vector<Digest>& missing, Turn& turn) {
  if (!owns(worker.number, state.ref)) {
    const LiveStep* step = find(state.ref.step);
    if (step != nullptr && step->row.epoch > state.ref.epoch)
      turn.record(step->row.job, "stale",
                  {{"step", std::to_string(state.ref.step)},
                   {"epoch", std::to_string(state.ref.epoch)},
                   {"worker", worker.sync.worker}});
    return {};
  }
  LiveStep& step = steps_.at(state.ref.step);
  const Outcome& outcome = state.outcome;
  if (outcome.kind == OutcomeKind::succeeded) return succeeded(step, outcome, missing, turn);
  end_attempt(step, outcome.kind, outcome.fault.message, turn);
  Fault fault{outcome.fault.code, outcome.fault.message.substr(0, kMaxFaultBytes)};
  if (step.row.assists != 0) return end_assistant(step, outcome.kind, turn);
  if (outcome.kind == OutcomeKind::input_gone) return inputs_gone(step, fault, turn);
  if (outcome.kind != OutcomeKind::failed) return retry_or_give_up(step, outcome.kind, fault, turn);
  StepResult result;
  result.success = false;
  result.fault = std::move(fault);
  return commit(step, std::move(result), turn);
}

Order Queue::order_for(WorkerNo number) {
  LiveWorker& worker = workers_.at(number);
  if (const auto* run = std::get_if<Running>(&worker.sync.state);
      run != nullptr && !owns(number, run->ref)) {
    if (worker.cancel_told == run->ref) return Order::cancel_told;
    worker.cancel_told = run->ref;
    return Order::cancel;
  }
  if (worker.lease != 0) {
    const LiveStep& step = steps_.at(worker.lease);
    // After a restart its targets may have gone another way, because earlier blobs were gone.
    if (step.row.state == StepState::leased)
      return waiters_of(step).empty() ? Order::abandon : Order::run;
  }
  if (worker.exam != 0 && worker.lease == 0 && !worker.exam_told &&
      std::holds_alternative<Idle>(worker.sync.state)) {
    worker.exam_told = true;
    return Order::examine;
  }
  if (worker.resume && !std::exchange(worker.resume_told, true)) return Order::resume;
  if (worker.drain && !std::exchange(worker.drain_told, true)) return Order::drain;
  return worker.exit && worker.lease == 0 ? Order::exit : Order::none;
}

void Queue::stop_listening(WorkerNo number) {
  workers_.at(number).listening = false;
  place_worker(workers_.at(number));
}

Desired Queue::parting_word(WorkerNo number) const {
  const WorkerState& state = workers_.at(number).sync.state;
  if (std::holds_alternative<Finished>(state)) return BeIdle{};
  const auto* run = std::get_if<Running>(&state);
  if (run != nullptr && !owns(number, run->ref)) return Cancel{run->ref};
  const uint64_t exam = workers_.at(number).exam;
  if (exam != 0 && std::holds_alternative<Idle>(state)) return Examine{exam};
  if (workers_.at(number).resume && workers_.at(number).sync.prefer_idle) return Resume{};
  return Keep{};
}

StepEvent Queue::lose(WorkerNo number, const std::string& why, Turn& turn) {
  const LiveWorker& worker = workers_.at(number);
  if (worker.lease == 0) return {};
  LiveStep& step = steps_.at(worker.lease);
  std::string how = why;
  if (step.row.state == StepState::leased) how += kBeforeItBegan;
  if (worker.lost)
    silent_[{worker.sync.worker, worker.sync.incarnation}].push_back({step.row.id, step.row.epoch});
  turn.out.notes.push_back("worker " + worker.sync.worker + " lost step " +
                           std::to_string(step.row.id) + ": " + how);
  end_attempt(step, OutcomeKind::worker_lost, how, turn);
  return retry_or_give_up(step, OutcomeKind::worker_lost, {ErrorCode::unavailable, how}, turn);
}

bool Queue::falls_silent(WorkerNo number, Turn& turn) {
  LiveWorker& worker = workers_.at(number);
  const Nanoseconds deadline = worker.seen + options_.worker_lost_after;
  if (worker.lost) return false;
  if (deadline > turn.now.monotonic) {
    turn.wake(deadline, TimerKind::worker_lost, number);
    return false;
  }
  worker.lost = true;
  stop_listening(number);
  dirty_devices_.insert(worker.sync.device);
  turn.wake(turn.now.monotonic + options_.forget_workers_after, TimerKind::forget, number);
  turn.record(0, "worker_lost", {{"worker", worker.sync.worker}});
  return true;
}

void Queue::extend_deadlines(Nanoseconds stall) {
  for (auto& [number, worker] : workers_) worker.seen += stall;
  for (auto& [id, step] : steps_) step.progress_at += stall;
}

void Queue::drain(WorkerNo number, const DrainWorker& request, Turn& turn) {
  LiveWorker& worker = workers_.at(number);
  worker.drain = true;
  worker.exit = worker.exit || request.exit;
  worker.resume = false;
  note_wish(worker, worker.exit ? Wish::exit : Wish::drain, turn);
  place_worker(worker);
  turn.record(0, "drain", {{"worker", worker.sync.worker}});
}

void Queue::undrain(WorkerNo number, Turn& turn) {
  LiveWorker& worker = workers_.at(number);
  // Whenever it says that it drains: an earlier coordinator may have told it, or the word is still
  // on its way.
  worker.resume = true;
  worker.resume_told = !worker.drain_told && !worker.sync.prefer_idle;
  worker.drain = worker.exit = worker.drain_told = false;
  worker.failures.clear();
  worker.quarantines = 0;
  note_wish(worker, Wish::resume, turn);
  turn.record(0, "undrain", {{"worker", worker.sync.worker}});
  end_quarantine(worker, turn);
  place_worker(worker);
}

bool Queue::forget_worker(WorkerNo number, Turn& turn) {
  LiveWorker& worker = workers_.at(number);
  if (!worker.lost || worker.lease != 0) return false;
  const std::string name = worker.sync.worker;
  pools_.remove_idle(worker.pools, number);
  pools_.remove_serving(worker.pools, number);
  const auto device = devices_.find(worker.sync.device);
  if (device != devices_.end()) {
    device->second.erase(number);
    if (device->second.empty()) devices_.erase(device);
  }
  if (quarantines_.erase(name) > 0) turn.save(SaveQuarantine{{name, "", 0}});
  note_wish(worker, Wish::none, turn);
  silent_.erase(silent_.lower_bound({name, 0}), silent_.upper_bound({name, UINT64_MAX}));
  worker_by_name_.erase(name);
  workers_.erase(number);
  turn.record(0, "worker_forgotten", {{"worker", name}});
  return true;
}

void Queue::expire(WorkerNo number, Turn& turn) {
  const LiveWorker& worker = workers_.at(number);
  if (worker.lost && turn.now.monotonic - worker.seen >= options_.forget_workers_after)
    forget_worker(number, turn);
}

}  // namespace enginery
