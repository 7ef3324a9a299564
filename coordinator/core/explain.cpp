// Why a job waits: one sentence for each target, and one for each worker that could run its step.
#include <algorithm>

#include "coordinator/core/state.h"

namespace enginery {
namespace {

constexpr size_t kMaxCandidates = 100;

std::string quoted(const std::string& text) {
  return "'" + text + "'";
}

}  // namespace

// Why the worker does not run the step now.
std::string CoreState::why_not(const LiveWorker& worker, const LiveStep& step) const {
  const StepRow& row = step.row;
  if (worker.lease == row.id)
    return row.state == StepState::leased ? "was given it and starts" : "runs it";
  if (worker.lost) return "fell silent";
  if (!worker.reported) return "has not been heard of since the coordinator started";
  if (worker.drain || worker.sync.prefer_idle) return "is draining";
  if (row.provisional) {
    const auto& skus_built = worker.sync.compiles_for;
    if (std::find(skus_built.begin(), skus_built.end(), row.sku) == skus_built.end())
      return "does not compile for " + quoted(row.sku);
  } else if (row.kind != StepKind::validate) {
    if (worker.sync.sku != row.sku) return "has another SKU, " + quoted(worker.sync.sku);
    if (!row.toolchain.empty() && worker.sync.toolchain != row.toolchain)
      return "has another toolchain, " + quoted(worker.sync.toolchain);
  }
  if (worker.lease != 0) {
    const StepRow& other = steps.at(worker.lease).row;
    return "runs " + std::string(to_string(other.kind)) + " of " + job_id(other.job);
  }
  if (load_of(worker) != Load::none) return "is stopping a step that it should not run any longer";
  const auto device = devices.find(worker.sync.device);
  if (device == devices.end()) return "is about to ask for work";
  for (const WorkerNo number : device->second) {
    const Load load = load_of(workers[number]);
    if (load == Load::measuring)
      return "waits: " + quoted(workers[number].sync.worker) + " measures on the same device";
    if (load == Load::working && is_measuring(row.kind))
      return "waits: measuring needs the device for itself and " +
             quoted(workers[number].sync.worker) + " works on it";
  }
  const std::optional<QueueKey> best = best_for(worker);
  if (best && best->step != row.id) return "takes " + job_id(best->job) + " first";
  return worker.held ? "is about to take it" : "is between two questions";
}

std::string CoreState::why_waiting(const LiveTarget& target) const {
  if (is_end(target.row.state)) return "";
  if (target.looking) return "asks the catalog";
  if (target.step == 0) return "is between two steps";
  const LiveStep& step = steps.at(target.step);
  const StepRow& row = step.row;
  const std::string kind = to_string(row.kind);
  switch (row.state) {
    case StepState::leased:
      return kind + " was given to " + quoted(row.worker);
    case StepState::running:
      return kind + " runs on " + quoted(row.worker);
    case StepState::committing:
      return "is being signed";
    default:
      break;
  }
  if (step.not_before > now.monotonic) return kind + " rests after a failed attempt";
  const auto fits = [&](const LiveWorker& worker) { return could_run(worker, step); };
  const auto able = std::count_if(workers.begin(), workers.end(), fits);
  if (able > 0) return kind + " waits for one of " + std::to_string(able) + " worker(s)";
  if (row.kind == StepKind::validate) return "waits for any worker: " + why_none();
  if (row.provisional) return "waits for a worker that compiles for " + quoted(row.sku);
  const auto of_sku = [&](const LiveWorker& worker) {
    return !worker.lost && worker.sync.sku == row.sku;
  };
  const bool other_toolchain = std::any_of(workers.begin(), workers.end(), of_sku);
  return kind + " waits for a worker of SKU " + quoted(row.sku) + ": " +
         (other_toolchain
              ? "those that are connected have another toolchain than the job was made for"
              : why_none());
}

// Also a worker between two Syncs, and one that has a lease from before a restart and may yet be
// silent.
bool CoreState::could_run(const LiveWorker& worker, const LiveStep& step) const {
  if (worker.lost) return false;
  if (worker.reported)
    return std::find(worker.pools.begin(), worker.pools.end(), step.pool) != worker.pools.end();
  return step.row.kind == StepKind::validate ||
         (!step.row.provisional && worker.sync.sku == step.row.sku);
}

// Just after a start nobody can be known who held no lease.
std::string CoreState::why_none() const {
  if (now.monotonic - started >= options.worker_lost_after) return "none is connected";
  return "none has been heard of since the coordinator started " +
         std::to_string(static_cast<int>(to_seconds(now.monotonic - started))) + " s ago";
}

ExplainReply CoreState::explain(const LiveJob& job) const {
  ExplainReply reply;
  for (uint32_t i = 0; i < job.targets.size(); ++i) {
    const LiveTarget& target = job.targets[i];
    ExplainView view{job.row.request.targets[i].sku, "", why_waiting(target), {}};
    if (is_end(target.row.state))
      view.reason = std::string("has ended: ") + to_string(target.row.state);
    if (!is_end(target.row.state) && target.step != 0) {
      const LiveStep& step = steps.at(target.step);
      view.step = to_string(step.row.kind);
      for (const auto& [name, number] : worker_by_name) {
        if (view.candidates.size() == kMaxCandidates) break;
        view.candidates.push_back({name, why_not(workers[number], step)});
      }
    }
    reply.targets.push_back(std::move(view));
  }
  return reply;
}

}  // namespace enginery
