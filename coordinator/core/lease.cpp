// Pools and leases: which step runs next, on which worker, and never two measurements on one
// device.
#include <algorithm>
#include <cmath>

#include "coordinator/core/state.h"

namespace enginery {

std::string sku_pool(const std::string& sku, const std::string& toolchain) {
  return "sku " + sku + " " + toolchain;
}
std::string provisional_pool(const std::string& sku) {
  return "untuned " + sku;
}

namespace {

std::string pool_of(const StepRow& step) {
  if (step.kind == StepKind::validate) return kAnyPool;
  return step.provisional ? provisional_pool(step.sku) : sku_pool(step.sku, step.toolchain);
}

}  // namespace

// Start-time fair queueing: a client's next job begins where its last share ended, or now if it has
// been idle. A priority of +100 halves what a job costs its client's share.
double CoreState::fair_start(LiveJob& job, LiveTarget& target, const std::string& pool_name) {
  const auto known = target.start.find(pool_name);
  if (known != target.start.end()) return known->second;
  Pool& pool = pools[pool_name];
  double& finish = pool.finish[job.row.request.client];
  const double start = std::max(pool.now, finish);
  finish = start + std::exp2(-job.row.request.priority / 100.0);
  // One start for all targets of a job that share the pool.
  for (LiveTarget& other : job.targets) other.start.emplace(pool_name, start);
  return start;
}

// Puts the step where the earliest of its waiters belongs; without a waiter nobody needs it yet.
void CoreState::enqueue(LiveStep& step) {
  if (step.waiters.empty() || step.not_before > now.monotonic) return;
  step.pool = pool_of(step.row);
  std::optional<QueueKey> place = step.queued;
  for (const Waiter& waiter : step.waiters) {
    LiveJob& job = jobs.at(waiter.job);
    const QueueKey key{fair_start(job, job.targets[waiter.target], step.pool), waiter.job,
                       step.row.id};
    if (!place || key < *place) place = key;
  }
  if (step.queued == place) return;
  dequeue(step);
  step.queued = place;
  pools[step.pool].ready.insert(*place);
  dirty_pools.insert(step.pool);
}

void CoreState::dequeue(LiveStep& step) {
  if (!step.queued) return;
  pools[step.pool].ready.erase(*step.queued);
  step.queued.reset();
}

bool CoreState::available(const LiveWorker& worker) const {
  return worker.held && worker.lease == 0 && !worker.lost && !worker.drain &&
         !worker.sync.prefer_idle && !std::holds_alternative<Running>(worker.sync.state);
}

// Keeps the pools' idle sets right after anything about the worker changed.
void CoreState::set_idle(LiveWorker& worker) {
  const bool idle = available(worker);
  for (const std::string& pool : worker.pools) {
    if (idle)
      pools[pool].idle.insert(worker.number);
    else
      pools[pool].idle.erase(worker.number);
  }
  if (idle) dirty_devices.insert(worker.sync.device);
}

std::optional<QueueKey> CoreState::best_for(const LiveWorker& worker) const {
  std::optional<QueueKey> best;
  for (const std::string& name : worker.pools) {
    const auto pool = pools.find(name);
    if (pool == pools.end() || pool->second.ready.empty()) continue;
    const QueueKey& head = *pool->second.ready.begin();
    if (!best || head < *best) best = head;
  }
  return best;
}

StepKind CoreState::kind_of(uint64_t step) const {
  const auto found = steps.find(step);
  return found == steps.end() ? StepKind::tune
                              : found->second.row.kind;  // unknown: the careful assumption
}

CoreState::Load CoreState::load_of(const LiveWorker& worker) const {
  if (worker.lost) return Load::none;
  uint64_t step = worker.lease;
  if (const auto* running = std::get_if<Running>(&worker.sync.state);
      step == 0 && running != nullptr)
    step = running->ref.step;
  if (step == 0) return Load::none;
  return is_measuring(kind_of(step)) ? Load::measuring : Load::working;
}

void CoreState::dispatch() {
  for (const std::string& name : std::exchange(dirty_pools, {})) {
    const auto pool = pools.find(name);
    if (pool == pools.end() || pool->second.ready.empty()) continue;
    // More devices than ready steps need not be tried, unless some are taken by a measurement.
    for (const WorkerNo number : std::set<WorkerNo>(pool->second.idle)) {
      if (pool->second.ready.empty()) break;
      if (available(workers[number])) dispatch_device(workers[number].sync.device);
    }
  }
  for (const std::string& device : std::exchange(dirty_devices, {})) dispatch_device(device);
}

// Gives the device's idle workers work in fair order. A measuring step needs the device for itself:
// when it is first in line and the device is busy, nothing behind it starts here, so that the
// device runs empty for it.
void CoreState::dispatch_device(const std::string& device) {
  const auto found = devices.find(device);
  if (found == devices.end()) return;
  while (true) {
    bool busy = false, measured = false;
    LiveWorker* next = nullptr;
    std::optional<QueueKey> first;
    for (const WorkerNo number : found->second) {
      LiveWorker& worker = workers[number];
      const Load load = load_of(worker);
      busy = busy || load != Load::none;
      measured = measured || load == Load::measuring;
      if (!available(worker)) continue;
      const std::optional<QueueKey> best = best_for(worker);
      if (best && (!first || *best < *first)) {
        first = best;
        next = &worker;
      }
    }
    if (next == nullptr) return;
    LiveStep& step = steps.at(first->step);
    const bool blocked = measured || (busy && is_measuring(step.row.kind));
    if (blocked && !options.measure_together) return;
    if (!lease(*next, step)) return;
  }
}

bool CoreState::lease(LiveWorker& worker, LiveStep& step) {
  if (!worker.held) return false;
  pools[step.pool].now = std::max(pools[step.pool].now, step.queued->start);
  dequeue(step);
  StepRow& row = step.row;
  row.state = StepState::leased;
  ++row.epoch;
  row.worker = worker.sync.worker;
  row.incarnation = worker.sync.incarnation;
  row.device = worker.sync.device;
  row.attempts.push_back(
      {row.id, row.epoch, row.worker, row.incarnation, now.wall.count(), 0, std::nullopt, ""});
  step.progress = {};
  step.progress_at = now.monotonic;
  worker.lease = row.id;
  save(SaveStep{row});
  save(SaveAttempt{row.attempts.back()});
  record(row.job, "leased",
         {{"step", std::to_string(row.id)},
          {"epoch", std::to_string(row.epoch)},
          {"worker", row.worker}});
  const ReplyTo to = worker.held->to;
  worker.held.reset();
  set_idle(worker);
  reply(to, SyncReply{static_cast<uint32_t>(options.sync_hold / std::chrono::milliseconds(1)),
                      run_message(step)});
  for (const Waiter& waiter : step.waiters) update_job(jobs.at(waiter.job));
  return true;
}

RunStep CoreState::run_message(const LiveStep& step) const {
  ENSURE(!step.waiters.empty(), "a step that nobody waits for was leased");
  const Waiter& waiter = *step.waiters.begin();
  const LiveJob& job = jobs.at(waiter.job);
  const LiveTarget& target = job.targets[waiter.target];
  const SubmitRequest& request = job.row.request;
  RunStep run;
  run.ref = {job_id(waiter.job), step.row.id, step.row.epoch};
  run.kind = to_string(step.row.kind);
  run.key = step.row.key;
  run.sku = step.row.sku;
  run.name = request.name;
  run.model_name = request.model_name;
  run.model = request.model;
  run.options = request.options;
  run.inputs = request.inputs;
  run.inputs.insert(run.inputs.end(), target.outputs.begin(), target.outputs.end());
  run.engine_key = target.engine_key;
  run.facts = target.facts;
  for (const NamedText& field : request.targets[waiter.target].engine_key)
    run.facts.push_back({"key." + field.name, field.value});
  run.provisional = step.row.provisional;
  return run;
}

// The worker does not hold the step any longer; whether it still runs it shows in what it says.
void CoreState::drop_lease(LiveStep& step) {
  const auto number = worker_by_name.find(step.row.worker);
  if (number != worker_by_name.end()) {
    LiveWorker& worker = workers[number->second];
    if (worker.lease == step.row.id) {
      worker.lease = 0;
      dirty_devices.insert(worker.sync.device);
      set_idle(worker);
    }
  }
  step.row.worker.clear();
  step.row.incarnation = 0;
  step.row.device.clear();
}

}  // namespace enginery
