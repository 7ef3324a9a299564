// The rules of steps, leases, pools and devices that hold between any two events; the simulator
// asks after each one.
#include "coordinator/core/queue.h"

namespace enginery {

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
  for (const LiveWorker& worker : workers_)
    if (worker.lease != 0)
      ++(measures_step(worker.lease) ? measuring : working)[worker.sync.device];
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
  if (!is_end(row.state) && !in_flight_.count(row.key)) return "is not in flight";
  if (held && workers_[worker_by_name_.at(row.worker)].lease != row.id)
    return "is leased to a worker that does not hold it";
  return "";
}

}  // namespace enginery
