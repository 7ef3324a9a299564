// The rules that hold between any two events; the simulator asks after each one.
#include "coordinator/core/state.h"

namespace enginery {

std::string CoreState::check() const {
  const auto name = [](uint64_t step) { return "step " + std::to_string(step); };
  for (const auto& [key, id] : in_flight) {
    if (is_end(steps.at(id).row.state)) return name(id) + " has ended and is still in flight";
    if (steps.at(id).row.key != key) return name(id) + " is in flight under another key";
  }
  for (const auto& [id, step] : steps) {
    const StepRow& row = step.row;
    if (row.commits > 1)
      return name(id) + " was committed " + std::to_string(row.commits) + " times";
    if (row.commits == 1 && row.state != StepState::done && row.state != StepState::failed)
      return name(id) + " was committed and goes on";
    const bool held = row.state == StepState::leased || row.state == StepState::running;
    if (held != !row.worker.empty())
      return name(id) + " is " + to_string(row.state) + " with worker '" + row.worker + "'";
    if (step.queued && row.state != StepState::queued)
      return name(id) + " is in a pool and " + to_string(row.state);
    if (is_end(row.state) && !step.waiters.empty())
      return name(id) + " has ended and is waited for";
    if (!is_end(row.state) && !in_flight.count(row.key)) return name(id) + " is not in flight";
    if (held) {
      const LiveWorker& worker = workers[worker_by_name.at(row.worker)];
      if (worker.lease != id) return name(id) + " is leased to a worker that does not hold it";
    }
  }
  std::map<std::string, int> measuring, working;
  for (const LiveWorker& worker : workers) {
    if (worker.lease == 0) continue;
    ++(is_measuring(kind_of(worker.lease)) ? measuring : working)[worker.sync.device];
  }
  for (const auto& [device, count] : measuring)
    if (count > 1 || working[device] > 0)
      return "device '" + device + "' is not alone while it measures";
  for (const auto& [number, job] : jobs) {
    for (const LiveTarget& target : job.targets) {
      if (is_end(job.row.state) && !is_end(target.row.state))
        return job_id(number) + " has ended before a target";
      if (is_end(target.row.state)) continue;
      if (!target.looking && target.step == 0)
        return job_id(number) + " has a target that waits for nothing";
      if (target.step != 0 && is_end(steps.at(target.step).row.state))
        return job_id(number) + " waits for an ended step";
      if (why_waiting(target).empty()) return job_id(number) + " has no explanation";
    }
  }
  return "";
}

}  // namespace enginery
