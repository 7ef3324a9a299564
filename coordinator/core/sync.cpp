// Sync, the whole worker protocol: what a worker says of itself, and what it should do instead.
//
// Every reply can be lost and every request repeated: the answer follows from the worker's own
// words and the leases, never from what was said before, except to keep `cancel` and `drain` from
// being repeated in a tight loop.
#include <algorithm>

#include "coordinator/core/state.h"

namespace enginery {
namespace {

constexpr size_t kMaxHealthBytes = 16 * 1024;
constexpr Nanoseconds kAfterFinish = std::chrono::milliseconds(2);

const char* bad_sync(const SyncRequest& sync) {
  if (sync.worker.empty() || sync.worker.size() > kMaxNameBytes)
    return "a worker needs a name of at most 200 bytes";
  if (sync.sku.empty() || sync.sku.size() > kMaxNameBytes) return "a worker needs a SKU";
  if (sync.device.empty() || sync.device.size() > kMaxNameBytes)
    return "a worker needs a device id";
  if (sync.toolchain.size() > 4096 || sync.host.size() > 1024 || sync.kind.size() > 100)
    return "a worker's text is too long";
  if (sync.health.size() > kMaxHealthBytes) return "a worker's health text is too long";
  return nullptr;
}

uint32_t milliseconds(Nanoseconds t) {
  return static_cast<uint32_t>(t / std::chrono::milliseconds(1));
}

}  // namespace

LiveWorker& CoreState::find_worker(const SyncRequest& sync) {
  if (const auto known = worker_by_name.find(sync.worker); known != worker_by_name.end())
    return workers[known->second];
  const auto number = static_cast<WorkerNo>(workers.size());
  worker_by_name[sync.worker] = number;
  LiveWorker& worker = workers.emplace_back();
  worker.number = number;
  worker.seen = now.monotonic;
  arm(now.monotonic + options.worker_lost_after, TimerKind::worker_lost, number);
  return worker;
}

void CoreState::sync(Request& request) {
  SyncRequest& sync = std::get<SyncRequest>(request.body);
  if (const char* problem = bad_sync(sync))
    return refuse(request.to, ErrorCode::usage, std::string("sync: ") + problem);
  LiveWorker& worker = find_worker(sync);
  // A newer process of this worker has taken over; unless that one fell silent: then the clock went
  // back between them.
  if (sync.incarnation < worker.sync.incarnation && !worker.lost)
    return reply(request.to, SyncReply{0, Exit{}});
  const bool same = sync.incarnation == worker.sync.incarnation;
  if (worker.reported && same && sync.sequence < worker.sync.sequence)
    return;  // overtaken by a newer one
  if (!same && worker.lease != 0) lose_worker(worker, "the worker started again");
  const bool progressed = !same || !(sync.state == worker.sync.state);
  const bool repeated =
      worker.reported && same && sync.sequence == worker.sync.sequence && worker.held;
  const Nanoseconds until = repeated ? worker.held->until : now.monotonic + options.sync_hold;
  update_worker(worker, sync);
  worker.held = Hold{request.to, until};
  if (progressed) worker.cancel_told.reset();
  sync_state(worker, request);
  set_idle(worker);
  dirty_devices.insert(worker.sync.device);  // it may have stopped something
  answer_sync(worker, request.to);
}

void CoreState::update_worker(LiveWorker& worker, const SyncRequest& sync) {
  const bool fresh = worker.sync.incarnation != sync.incarnation || !worker.reported;
  if (fresh) {
    worker.drain = worker.exit = worker.drain_told = false;
    record(0, "worker",
           {{"worker", sync.worker}, {"sku", sync.sku}, {"pid", std::to_string(sync.pid)}});
  }
  if (worker.sync.device != sync.device) {
    devices[worker.sync.device].erase(worker.number);
    dirty_devices.insert(worker.sync.device);
    devices[sync.device].insert(worker.number);
  }
  if (fresh || worker.sync.sku != sync.sku || worker.sync.toolchain != sync.toolchain ||
      worker.sync.compiles_for != sync.compiles_for) {
    for (const std::string& pool : worker.pools) pools[pool].idle.erase(worker.number);
    worker.pools = {kAnyPool, sku_pool(sync.sku, sync.toolchain)};
    if (!sync.toolchain.empty()) worker.pools.push_back(sku_pool(sync.sku, ""));
    for (const std::string& sku : sync.compiles_for) worker.pools.push_back(provisional_pool(sku));
  }
  worker.sync = sync;
  worker.seen = now.monotonic;
  worker.reported = true;
  if (worker.lost) {
    worker.lost = false;
    arm(now.monotonic + options.worker_lost_after, TimerKind::worker_lost, worker.number);
  }
  see_sku(sync);
}

void CoreState::see_sku(const SyncRequest& sync) {
  SeenSku& row = skus[sync.sku];
  if (row.sku == sync.sku && row.kind == sync.kind && row.toolchain == sync.toolchain) return;
  row = {sync.sku, sync.kind, sync.toolchain, now.wall.count()};
  save(SaveSku{row});
}

bool CoreState::owns(const LiveWorker& worker, const StepRef& ref) const {
  if (worker.lease == 0 || worker.lease != ref.step) return false;
  const StepRow& row = steps.at(ref.step).row;
  if (row.worker != worker.sync.worker || row.incarnation != worker.sync.incarnation) return false;
  return row.epoch == ref.epoch;
}

void CoreState::sync_state(LiveWorker& worker, const Request& request) {
  if (const auto* run = std::get_if<Running>(&worker.sync.state)) {
    running(worker, *run);
  } else if (const auto* end = std::get_if<Finished>(&worker.sync.state)) {
    finished(worker, *end, request.missing);
  } else if (worker.lease != 0 && steps.at(worker.lease).row.state == StepState::running) {
    LiveStep& step = steps.at(worker.lease);
    end_attempt(step, OutcomeKind::internal, "the worker forgot the step");
    retry_or_give_up(step, OutcomeKind::internal,
                     {ErrorCode::internal, "the worker forgot the step"});
  }
}

void CoreState::running(LiveWorker& worker, const Running& state) {
  if (!owns(worker, state.ref)) return;  // answer_sync tells it to stop
  LiveStep& step = steps.at(worker.lease);
  const bool moved = !(step.progress == state.progress);
  if (moved) {
    step.progress = state.progress;
    step.progress_at = now.monotonic;
  }
  if (now.monotonic - step.progress_at > options.no_progress) {
    const std::string message = "no progress in phase '" + step.progress.phase + "'";
    end_attempt(step, OutcomeKind::internal, message);
    return retry_or_give_up(step, OutcomeKind::internal, {ErrorCode::timed_out, message});
  }
  if (step.row.state == StepState::leased) {
    step.row.state = StepState::running;
    save(SaveStep{step.row});
    record(step.row.job, "running",
           {{"step", std::to_string(step.row.id)}, {"worker", step.row.worker}});
  } else if (!moved) {
    return;
  }
  for (const Waiter& waiter : step.waiters) touch(jobs.at(waiter.job));
}

void CoreState::finished(LiveWorker& worker, const Finished& state,
                         const std::vector<Digest>& missing) {
  const bool mine = owns(worker, state.ref);
  const auto found = steps.find(state.ref.step);
  if (!mine && options.accept_stale_epochs && found != steps.end() &&
      state.outcome.kind == OutcomeKind::succeeded)
    return succeeded(found->second, state.outcome, missing);
  if (!mine) {
    const bool known = found != steps.end() && found->second.row.epoch > state.ref.epoch;
    if (known)
      record(found->second.row.job, "stale",
             {{"step", std::to_string(state.ref.step)},
              {"epoch", std::to_string(state.ref.epoch)},
              {"worker", worker.sync.worker}});
    return;
  }
  LiveStep& step = found->second;
  const Outcome& outcome = state.outcome;
  if (outcome.kind == OutcomeKind::succeeded) return succeeded(step, outcome, missing);
  end_attempt(step, outcome.kind, outcome.fault.message);
  if (outcome.kind == OutcomeKind::failed) {
    StepResult result;
    result.success = false;
    result.fault = outcome.fault;
    return commit(step, std::move(result));
  }
  retry_or_give_up(step, outcome.kind, outcome.fault);
}

// Decides what the worker hears, and when: at once if it should change what it does, otherwise its
// Sync is held.
void CoreState::answer_sync(LiveWorker& worker, const ReplyTo& to) {
  const uint32_t next = milliseconds(options.sync_hold);
  const auto say = [&](Desired desired) {
    worker.held.reset();
    set_idle(worker);
    reply(to, SyncReply{next, std::move(desired)});
  };
  if (const auto* run = std::get_if<Running>(&worker.sync.state);
      run != nullptr && !owns(worker, run->ref)) {
    if (worker.cancel_told == run->ref) {
      worker.held->until = now.monotonic + options.cancel_hold;
      return arm(worker.held->until, TimerKind::worker_hold, worker.number);
    }
    worker.cancel_told = run->ref;
    return say(Cancel{run->ref});
  }
  if (worker.lease != 0 &&
      steps.at(worker.lease).row.state == StepState::leased) {  // the lease's answer was lost
    LiveStep& step = steps.at(worker.lease);
    if (!step.waiters.empty()) return say(run_message(step));
    cancel_step(
        step);  // after a restart its targets went another way, because earlier blobs were gone
    if (!worker.held) return;
  }
  if (worker.drain && !worker.drain_told) {
    worker.drain_told = true;
    return say(Drain{});
  }
  if (worker.exit && worker.lease == 0) return say(Exit{});
  dispatch();
  if (!worker.held) return;
  // What it finished may make its next step ready: the lookups are on their way, so wait for them a
  // moment.
  if (std::holds_alternative<Finished>(worker.sync.state))
    worker.held->until = now.monotonic + kAfterFinish;
  arm(worker.held->until, TimerKind::worker_hold, worker.number);
}

// Answers a held Sync because what the worker should do has changed.
void CoreState::release(LiveWorker& worker) {
  if (!worker.held) return;
  const ReplyTo to = worker.held->to;
  answer_sync(worker, to);
}

void CoreState::lose_worker(LiveWorker& worker, const std::string& why) {
  if (worker.lease == 0) return;
  LiveStep& step = steps.at(worker.lease);
  out->notes.push_back("worker " + worker.sync.worker + " lost step " +
                       std::to_string(step.row.id) + ": " + why);
  end_attempt(step, OutcomeKind::worker_lost, why);
  retry_or_give_up(step, OutcomeKind::worker_lost, {ErrorCode::unavailable, why});
}

void CoreState::drain_worker(const Request& request, const DrainWorker& drain) {
  const auto found = worker_by_name.find(drain.worker);
  if (found == worker_by_name.end())
    return refuse(request.to, ErrorCode::not_found, "drain: no worker '" + drain.worker + "'");
  LiveWorker& worker = workers[found->second];
  worker.drain = true;
  worker.exit = worker.exit || drain.exit;
  set_idle(worker);
  record(0, "drain", {{"worker", drain.worker}});
  release(worker);
  reply(request.to, Done{});
}

}  // namespace enginery
