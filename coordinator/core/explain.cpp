#include "coordinator/core/explain.h"

#include <algorithm>

namespace enginery {
namespace {

std::string quoted(const std::string& text) {
  return "'" + text + "'";
}

// A worker is able to run the step also between two Syncs, and when it has a lease from before a
// restart and may yet be silent.
bool is_able(const LiveWorker& worker, const LiveStep& step) {
  if (worker.lost || !worker.quarantine.empty()) return false;
  if (worker.reported)
    return std::find(worker.pools.begin(), worker.pools.end(), step.pool) != worker.pools.end();
  return step.row.sku.empty() || (!step.row.provisional && worker.sync.sku == step.row.sku);
}

// Just after a start nobody can be known who held no lease.
std::string why_none(const Queue& queue, Now now) {
  const Nanoseconds age = now.monotonic - queue.started();
  if (age >= queue.options().worker_lost_after) return "none is connected";
  return "none has been heard of since the coordinator started " +
         std::to_string(static_cast<int>(to_seconds(age))) + " s ago";
}

// That the workers that could take the step are quarantined; "" when it is something else.
std::string why_quarantined(const std::map<WorkerNo, LiveWorker>& workers, const LiveStep& step) {
  for (const auto& [number, worker] : workers)
    if (!worker.lost && !worker.quarantine.empty() &&
        std::find(worker.pools.begin(), worker.pools.end(), step.pool) != worker.pools.end())
      return "worker " + quoted(worker.sync.worker) +
             ", which could take it, is quarantined: " + worker.quarantine;
  return "";
}

// What another worker of the device, or the worker itself, does there that keeps the step away; ""
// when nothing does.
std::string device_reason(const Queue& queue, const LiveWorker& worker, const LiveStep& step) {
  const std::set<WorkerNo>* sharers = queue.sharers_of(worker.sync.device);
  if (sharers == nullptr) return "is about to ask for work";
  for (const WorkerNo number : *sharers) {
    const LiveWorker& sharer = queue.worker(number);
    const Load load = queue.load_of(sharer);
    if (load == Load::measuring)
      return "waits: " + quoted(sharer.sync.worker) + " measures on the same device";
    if (load == Load::working && queue.is_alone(step))
      return "waits: " + std::string(queue.measures(step.row.kind) ? "measuring" : "the step") +
             " needs the device for itself and " + quoted(sharer.sync.worker) + " works on it";
  }
  return "";
}

// Why the worker could not run the step even if it were idle; "" when it could.
std::string misfit(const LiveWorker& worker, const StepRow& row) {
  if (row.sku.empty()) return "";
  if (row.provisional) {
    const auto& skus_built = worker.sync.compiles_for;
    const bool compiles =
        std::find(skus_built.begin(), skus_built.end(), row.sku) != skus_built.end();
    return compiles ? "" : "does not compile for " + quoted(row.sku);
  }
  if (worker.sync.sku != row.sku) return "has another SKU, " + quoted(worker.sync.sku);
  if (!row.toolchain.empty() && worker.sync.toolchain != row.toolchain)
    return "has another toolchain, " + quoted(worker.sync.toolchain);
  return "";
}

// " (12 problems); it is shared by 'b' (7), 'c' (5); 9 problems left" while others measure for it.
std::string shared_by(const Queue& queue, const LiveStep& step) {
  std::string out;
  for (const uint64_t id : queue.assistants_at_work(step)) {
    const LiveStep& assistant = queue.step(id);
    out += (out.empty() ? "" : ", ") + quoted(assistant.row.worker) + " (" +
           std::to_string(assistant.problems_taken) + ")";
  }
  if (out.empty()) return "";
  return " (" + std::to_string(step.problems_taken) + " problems); it is shared by " + out + "; " +
         std::to_string(queue.problems_left(step)) + " problems left";
}

}  // namespace

std::string why_not(const Queue& queue, const LiveWorker& worker, const LiveStep& step,
                    const JobNames& names) {
  const StepRow& row = step.row;
  if (worker.lease == row.id)
    return row.state == StepState::leased ? "was given it and starts" : "runs it";
  if (worker.lease != 0 && queue.step(worker.lease).row.assists == row.id)
    return "measures for it: " + std::to_string(queue.step(worker.lease).problems_taken) +
           " problems so far";
  if (worker.lost) return "fell silent";
  if (!worker.reported) return "has not been heard of since the coordinator started";
  if (!worker.quarantine.empty()) return "is quarantined: " + worker.quarantine;
  if (worker.drain || worker.sync.prefer_idle) return "is draining";
  if (const std::string reason = misfit(worker, row); !reason.empty()) return reason;
  if (worker.lease != 0) {
    const StepRow& other = queue.step(worker.lease).row;
    const std::string job = names(other.job);
    return job.empty() ? "is busy with another tenant's job"
                       : "runs " + std::string(queue.name_of(other.kind)) + " of " + job;
  }
  if (queue.load_of(worker) != Load::none)
    return "is stopping a step that it should not run any longer";
  if (const std::string reason = device_reason(queue, worker, step); !reason.empty()) return reason;
  if (queue.avoids(worker, step)) return "has failed on it; another worker can take it";
  const std::optional<Head> best = queue.next_for(worker);
  if (best && best->place.step != row.id) {
    const std::string job = names(best->place.job);
    return "takes " + (job.empty() ? "another tenant's job" : job) + " first";
  }
  return worker.listening ? "is about to take it" : "has not asked for work again yet";
}

std::string why_step_waits(const Queue& queue, const LiveStep& step, Now now) {
  const StepRow& row = step.row;
  const std::string kind = queue.name_of(row.kind);
  switch (row.state) {
    case StepState::leased:
      return kind + " was given to " + quoted(row.worker);
    case StepState::running:
      return kind + " runs on " + quoted(row.worker) + shared_by(queue, step);
    case StepState::committing:
      return "is being signed";
    default:
      break;
  }
  if (step.retry_at > now.monotonic) return kind + " backs off after a failed attempt";
  const std::map<WorkerNo, LiveWorker>& workers = queue.workers();
  const auto able = std::count_if(workers.begin(), workers.end(),
                                  [&](const auto& worker) { return is_able(worker.second, step); });
  if (able > 0) return kind + " waits for one of " + std::to_string(able) + " worker(s)";
  if (const std::string reason = why_quarantined(workers, step); !reason.empty())
    return kind + " waits: " + reason;
  if (row.sku.empty()) return "waits for any worker: " + why_none(queue, now);
  if (row.provisional) return "waits for a worker that compiles for " + quoted(row.sku);
  const bool other_toolchain = std::any_of(workers.begin(), workers.end(), [&](const auto& worker) {
    return !worker.second.lost && worker.second.sync.sku == row.sku;
  });
  return kind + " waits for a worker of SKU " + quoted(row.sku) + ": " +
         (other_toolchain
              ? "those that are connected have another toolchain than the job was made for"
              : why_none(queue, now));
}

}  // namespace enginery
