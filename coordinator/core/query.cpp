// What people ask: jobs, one job, workers, SKUs, and the long poll for a job's change.
#include <algorithm>

#include "coordinator/core/state.h"

namespace enginery {
namespace {

constexpr Nanoseconds kMaxHold = std::chrono::seconds(30);

}  // namespace

LiveJob* CoreState::find_job(const std::string& id) {
  const std::optional<uint64_t> number = job_number(id);
  if (!number) return nullptr;
  const auto found = jobs.find(*number);
  return found == jobs.end() ? nullptr : &found->second;
}
const LiveJob* CoreState::find_job(const std::string& id) const {
  return const_cast<CoreState*>(this)->find_job(id);
}

bool CoreState::query(const Request& request) {
  const auto with_job = [&](const std::string& id, const char* verb, auto answer) {
    if (LiveJob* job = find_job(id)) return answer(*job);
    refuse(request.to, ErrorCode::not_found,
           std::string(verb) + ": no job '" + id.substr(0, 80) + "'");
  };
  if (const auto* show = std::get_if<ShowJob>(&request.body))
    return with_job(show->job, "show",
                    [&](LiveJob& job) { reply(request.to, JobReply{view(job, true)}); }),
           true;
  if (const auto* explain_job = std::get_if<ExplainJob>(&request.body))
    return with_job(explain_job->job, "explain",
                    [&](LiveJob& job) { reply(request.to, explain(job)); }),
           true;
  if (const auto* cancel = std::get_if<CancelJob>(&request.body))
    return cancel_job(request, cancel->job), true;
  if (const auto* waiting = std::get_if<WaitJob>(&request.body))
    return wait(request, *waiting), true;
  if (const auto* jobs_asked = std::get_if<ListJobs>(&request.body))
    return reply(request.to, list(*jobs_asked)), true;
  if (std::holds_alternative<ListSkus>(request.body)) return reply(request.to, sku_list()), true;
  if (std::holds_alternative<ListWorkers>(request.body))
    return reply(request.to, worker_list()), true;
  if (const auto* drain = std::get_if<DrainWorker>(&request.body))
    return drain_worker(request, *drain), true;
  return false;
}

void CoreState::wait(const Request& request, const WaitJob& wait) {
  LiveJob* job = find_job(wait.job);
  if (job == nullptr)
    return refuse(request.to, ErrorCode::not_found,
                  "wait: no job '" + wait.job.substr(0, 80) + "'");
  const bool changed =
      is_end(job->row.state) || (!wait.until_end && job->revision != wait.known_revision);
  if (changed || wait.hold_ms == 0) return reply(request.to, JobReply{view(*job, false)});
  for (const JobHold& hold : job->holds)
    if (hold.to == request.to) return;  // a repetition
  const Nanoseconds until =
      now.monotonic + std::min<Nanoseconds>(std::chrono::milliseconds(wait.hold_ms), kMaxHold);
  job->holds.push_back({request.to, until, wait.until_end});
  arm(until, TimerKind::job_hold, job->row.number);
}

TargetView CoreState::view(const LiveJob& job, const LiveTarget& target, uint32_t index) const {
  const TargetRequest& request = job.row.request.targets[index];
  TargetView view;
  view.sku = request.sku;
  view.state = target.row.state;
  view.source = target.row.source;
  view.provisional = request.provisional;
  view.engine = target.row.engine;
  view.key = target.engine_key;
  view.latency_ms = target.row.latency_ms;
  view.size_bytes = target.row.size_bytes;
  view.timings_measured = target.row.timings_measured;
  view.timings_reused = target.row.timings_reused;
  view.fault = target.row.fault;
  if (is_end(target.row.state)) return view;
  if (target.step != 0) {
    const LiveStep& step = steps.at(target.step);
    view.progress = step.progress;
    if (view.progress.phase.empty()) view.progress.phase = to_string(step.row.kind);
  }
  view.note = why_waiting(target);
  return view;
}

JobView CoreState::view(const LiveJob& job, bool with_steps) const {
  const SubmitRequest& request = job.row.request;
  JobView view;
  view.id = job_id(job.row.number);
  view.name = request.name;
  view.model_name = request.model_name;
  view.model = request.model;
  view.state = job.row.state;
  view.client = request.client;
  view.options = request.options;
  view.priority = request.priority;
  view.tags = request.tags;
  view.submitted_ns = job.row.submitted_ns;
  view.ended_ns = job.row.ended_ns;
  view.revision = job.revision;
  for (uint32_t i = 0; i < job.targets.size(); ++i)
    view.targets.push_back(this->view(job, job.targets[i], i));
  if (with_steps) view.steps = step_views(job);
  return view;
}

std::vector<StepView> CoreState::step_views(const LiveJob& job) const {
  // What one message can carry: of each step the latest attempts, of each attempt the begin of its
  // message.
  constexpr size_t kMaxAttempts = 50, kMaxMessageBytes = 500;
  std::vector<StepView> views;
  std::set<uint64_t> seen;
  for (uint32_t i = 0; i < job.targets.size(); ++i) {
    for (const StepUse& use : job.targets[i].row.uses) {
      if (use.step != 0 && !seen.insert(use.step).second)
        continue;  // validate is shared by the targets
      StepView view;
      view.sku = use.kind == StepKind::validate ? "" : job.row.request.targets[i].sku;
      view.name = to_string(use.kind);
      view.key = use.key;
      view.step = use.step;
      view.source = use.source;
      view.state = StepState::done;
      if (const auto step = steps.find(use.step); step != steps.end()) {
        const StepRow& row = step->second.row;
        view.state = row.state;
        view.epoch = row.epoch;
        view.commits = row.commits;
        const size_t skip =
            row.attempts.size() > kMaxAttempts ? row.attempts.size() - kMaxAttempts : 0;
        for (size_t a = skip; a < row.attempts.size(); ++a) {
          const AttemptRow& attempt = row.attempts[a];
          view.attempts.push_back({attempt.worker, attempt.epoch, attempt.started_ns,
                                   attempt.ended_ns,
                                   attempt.outcome ? to_string(*attempt.outcome) : "",
                                   attempt.message.substr(0, kMaxMessageBytes)});
        }
      }
      views.push_back(std::move(view));
    }
  }
  return views;
}

JobList CoreState::list(const ListJobs& request) const {
  const size_t limit = std::min<size_t>(request.limit == 0 ? 1000 : request.limit, 2000);
  const uint64_t before = job_number(request.before).value_or(UINT64_MAX);
  JobList list;
  for (auto at = jobs.rbegin(); at != jobs.rend() && list.jobs.size() < limit; ++at) {
    const LiveJob& job = at->second;
    if (at->first >= before) continue;
    JobLine line{job_id(at->first), job.row.request.name, job.row.state, job.row.submitted_ns};
    line.total = static_cast<uint32_t>(job.targets.size());
    for (const LiveTarget& target : job.targets) line.done += is_end(target.row.state);
    list.jobs.push_back(std::move(line));
  }
  return list;
}

WorkerCondition CoreState::condition(const LiveWorker& worker) const {
  if (worker.lost) return WorkerCondition::lost;
  if (worker.drain || worker.sync.prefer_idle) return WorkerCondition::draining;
  return load_of(worker) == Load::none ? WorkerCondition::idle : WorkerCondition::busy;
}

SkuList CoreState::sku_list() const {
  std::map<std::string, SkuView> views;
  for (const auto& [name, row] : skus) views[name] = {name, row.kind, row.toolchain};
  for (const LiveWorker& worker : workers) {
    if (worker.lost || !worker.reported) continue;
    SkuView& view = views[worker.sync.sku];
    ++view.workers;
    view.idle += condition(worker) == WorkerCondition::idle;
  }
  for (const auto& [name, pool] : pools) {
    if (pool.ready.empty()) continue;
    const StepRow& first = steps.at(pool.ready.begin()->step).row;
    if (const auto view = views.find(first.sku); view != views.end())
      view->second.queued += static_cast<uint32_t>(pool.ready.size());
  }
  SkuList list;
  for (auto& [name, view] : views) list.skus.push_back(std::move(view));
  return list;
}

WorkerList CoreState::worker_list() const {
  constexpr size_t kMaxWorkers = 1000;  // of one answer
  WorkerList list;
  for (const auto& [name, number] : worker_by_name) {
    if (list.workers.size() == kMaxWorkers) break;
    const LiveWorker& worker = workers[number];
    WorkerView view{name,
                    worker.sync.sku,
                    condition(worker),
                    worker.sync.pid,
                    worker.sync.host,
                    worker.sync.device};
    view.last_seen_seconds = to_seconds(now.monotonic - worker.seen);
    view.health = worker.sync.health.substr(0, 200);
    if (worker.lease != 0) {
      const LiveStep& step = steps.at(worker.lease);
      view.job = job_id(step.row.job);
      view.step = to_string(step.row.kind);
      view.progress = step.progress;
    }
    list.workers.push_back(std::move(view));
  }
  return list;
}

}  // namespace enginery
