// Leases: which ready step runs next, on which worker, and never two measurements on one device.
#include "coordinator/core/queue.h"

namespace enginery {
namespace {

constexpr double kFirstGuess = 1;  // seconds: of a step of which none has ended in its pool

}  // namespace

// Whether it takes work, now or when it has done what it does.
bool Queue::serves(const LiveWorker& worker) const {
  return worker.reported && !worker.lost && !worker.drain && !worker.sync.prefer_idle &&
         worker.quarantine.empty();
}

bool Queue::available(const LiveWorker& worker) const {
  return serves(worker) && worker.listening && worker.lease == 0 &&
         !std::holds_alternative<Running>(worker.sync.state);
}

// Keeps the offered SKUs' numbers of workers right.
void Queue::count_worker(LiveWorker& worker) {
  std::optional<SkuToolchain> now;
  if (worker.reported && !worker.lost) now = {worker.sync.sku, worker.sync.toolchain};
  if (worker.counted_as == now) return;
  if (worker.counted_as) --skus_[*worker.counted_as].workers;
  if (now) ++skus_[*now].workers;
  worker.counted_as = now;
}

// Keeps the pools' workers right after anything about the worker changed.
void Queue::place_worker(LiveWorker& worker) {
  count_worker(worker);
  if (serves(worker)) {
    pools_.add_serving(worker.pools, worker.number);
  } else {
    pools_.remove_serving(worker.pools, worker.number);
    // What others left to this one they may take now.
    dirty_pools_.insert(worker.pools.begin(), worker.pools.end());
  }
  const bool has_finished = std::holds_alternative<Finished>(worker.sync.state);
  if (available(worker) && has_finished)
    freed_.insert(worker.number);
  else
    freed_.erase(worker.number);
  if (!available(worker)) return pools_.remove_idle(worker.pools, worker.number);
  pools_.add_idle(worker.pools, worker.number);
  dirty_devices_.insert(worker.sync.device);
}

std::optional<Head> Queue::next_for(const LiveWorker& worker) const {
  return pools_.first_of(worker.pools,
                         [&](uint64_t step) { return !avoids(worker, steps_.at(step)); });
}

const Step* Queue::row_of(StepKind kind) const {
  for (const Step& step : options_.steps)
    if (step.kind == kind) return &step;
  return nullptr;
}

// A step or a kind that is not known counts as measuring: the careful assumption.
bool Queue::measures(StepKind kind) const {
  const Step* row = row_of(kind);
  return row == nullptr || row->needs == Needs::device_alone;
}

bool Queue::is_alone(const LiveStep& step) const {
  return measures(step.row.kind) || troubles_.runs_alone(step.row.key);
}

bool Queue::is_alone(uint64_t id) const {
  const LiveStep* step = find(id);
  return step == nullptr || is_alone(*step);
}

Load Queue::load_of(const LiveWorker& worker) const {
  if (worker.lost) return Load::none;
  uint64_t step = worker.lease;
  if (const auto* running = std::get_if<Running>(&worker.sync.state);
      step == 0 && running != nullptr)
    step = running->ref.step;
  if (step == 0) return Load::none;
  return is_alone(step) ? Load::measuring : Load::working;
}

std::optional<Lease> Queue::lease_next(Turn& turn) {
  while (leasing_on_ || next_device()) {
    if (const auto leased = lease_on(*leasing_on_, turn)) return leased;
    leasing_on_.reset();
  }
  return lease_assistant(turn);
}

// First those of workers that have just ended a step: what follows may find its device open there
// and its model read. Then the devices of idle workers of the pools to which a step was added: more
// of them than there are ready steps need not be tried. Then the devices on which something ended.
bool Queue::next_device() {
  if (!freed_devices_.empty()) {
    leasing_on_ = *freed_devices_.begin();
    freed_devices_.erase(freed_devices_.begin());
    return true;
  }
  while (!dirty_pools_.empty()) {
    const std::string& pool = *dirty_pools_.begin();
    std::optional<WorkerNo> worker;
    if (!pools_.empty(pool)) worker = pools_.idle_from(pool, next_idle_);
    if (worker) {
      next_idle_ = *worker + 1;
      leasing_on_ = workers_.at(*worker).sync.device;
      return true;
    }
    dirty_pools_.erase(dirty_pools_.begin());
    next_idle_ = 0;
  }
  if (dirty_devices_.empty()) return false;
  leasing_on_ = *dirty_devices_.begin();
  dirty_devices_.erase(dirty_devices_.begin());
  return true;
}

// Gives one of the device's idle workers the first step in fair order. A measuring step needs the
// device for itself: when it is first in line and the device is busy, nothing behind it starts
// here, so that the device runs empty for it.
std::optional<Lease> Queue::lease_on(const std::string& device, Turn& turn) {
  const auto found = devices_.find(device);
  if (found == devices_.end()) return std::nullopt;
  bool busy = false, measured = false;
  LiveWorker* next = nullptr;
  std::optional<Head> first;
  for (const WorkerNo number : found->second) {
    LiveWorker& worker = workers_.at(number);
    const Load load = load_of(worker);
    busy = busy || load != Load::none;
    measured = measured || load == Load::measuring;
    if (!available(worker)) continue;
    const std::optional<Head> best = next_for(worker);
    if (best && (!first || *best < *first)) {
      first = best;
      next = &worker;
    }
  }
  if (next == nullptr) return std::nullopt;
  const LiveStep& step = steps_.at(first->place.step);
  if (measured || (busy && is_alone(step))) return std::nullopt;
  return lease(*next, first->place, turn);
}

Lease Queue::lease(LiveWorker& worker, const Place& place, Turn& turn) {
  LiveStep& step = steps_.at(place.step);
  StepRow& row = step.row;
  const auto usual = usual_seconds_.find({step.pool, row.kind});
  step.charge = pools_.lease(place, usual == usual_seconds_.end() ? kFirstGuess : usual->second,
                             turn.now.monotonic);
  step.leased_at = turn.now.monotonic;
  row.state = StepState::leased;
  ++row.epoch;
  row.worker = worker.sync.worker;
  row.incarnation = worker.sync.incarnation;
  row.device = worker.sync.device;
  row.attempts.push_back(
      {row.id, row.epoch, row.worker, row.incarnation, turn.now.wall.count(), 0, std::nullopt, ""});
  step.progress = {};
  step.progress_at = turn.now.monotonic;
  worker.lease = row.id;
  turn.save(SaveStep{row});
  turn.save(SaveAttempt{row.attempts.back()});
  turn.record(row.job, "leased",
              {{"step", std::to_string(row.id)},
               {"epoch", std::to_string(row.epoch)},
               {"worker", row.worker}});
  stop_listening(worker.number);
  note_leader(step);
  return {row.id, worker.number};
}

bool Queue::owns(WorkerNo number, const StepRef& ref) const {
  const LiveWorker& worker = workers_.at(number);
  if (worker.lease == 0 || worker.lease != ref.step) return false;
  const StepRow& row = steps_.at(ref.step).row;
  if (row.worker != worker.sync.worker || row.incarnation != worker.sync.incarnation) return false;
  return row.epoch == ref.epoch;
}

// --- the rules of steps, leases, pools and devices that hold between any two events; the simulator
// asks after each one

std::string Queue::check() const {
  for (const auto& [key, id] : in_flight_) {
    const StepRow& row = steps_.at(id).row;
    if (is_end(row.state))
      return "step " + std::to_string(id) + " has ended and is still in flight";
    if (row.key != key) return "step " + std::to_string(id) + " is in flight under another key";
  }
  size_t ready = 0;
  for (const auto& [id, step] : steps_) {
    const std::string rule = check_step(step);
    if (!rule.empty()) return "step " + std::to_string(id) + " " + rule;
    ready += pools_.holds(id);
  }
  if (ready != pools_.ready_count()) return "a pool holds a step that is no more";
  std::map<std::string, int> measuring, working;
  for (const auto& [number, worker] : workers_)
    if (worker.lease != 0) ++(is_alone(worker.lease) ? measuring : working)[worker.sync.device];
  for (const auto& [device, count] : measuring)
    if (count > 1 || working[device] > 0)
      return "device '" + device + "' is not alone while it measures";
  return "";
}

// As the rest of a sentence that begins with the step's name.
std::string Queue::check_step(const LiveStep& step) const {
  const StepRow& row = step.row;
  if (row.commits > 1) return "was committed " + std::to_string(row.commits) + " times";
  if (row.commits == 1 && row.state != StepState::done && row.state != StepState::failed)
    return "was committed and goes on";
  const bool held = row.state == StepState::leased || row.state == StepState::running;
  if (held != !row.worker.empty())
    return "is " + std::string(to_string(row.state)) + " with worker '" + row.worker + "'";
  if (pools_.holds(row.id)) {
    if (row.state != StepState::queued)
      return "is in a pool and " + std::string(to_string(row.state));
    if (step.waiters.empty()) return "is in a pool and nobody waits for it";
  }
  if (is_end(row.state) && !step.waiters.empty()) return "has ended and is waited for";
  if (row.assists == 0 && !is_end(row.state) && !in_flight_.count(row.key))
    return "is not in flight";
  if (held && workers_.at(worker_by_name_.at(row.worker)).lease != row.id)
    return "is leased to a worker that does not hold it";
  return check_sharing(step);
}

}  // namespace enginery
