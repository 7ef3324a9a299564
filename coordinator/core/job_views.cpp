// What people see of jobs: one job, its steps, the list, and why it waits.
#include <algorithm>
#include <set>

#include "coordinator/core/explain.h"
#include "coordinator/core/farm_views.h"
#include "coordinator/core/jobs.h"

namespace enginery {
namespace {

// What one message can carry: of each step the latest attempts, of each attempt the beginning of
// its message.
constexpr size_t kMaxAttemptsShown = 50, kMaxMessageBytes = 500;
constexpr size_t kMaxCandidates = 100;  // workers that explain a target
constexpr size_t kMaxJobsListed = 2000, kJobsListed = 1000;

AttemptView view_of(const AttemptRow& attempt) {
  return {attempt.worker,
          attempt.epoch,
          attempt.started_ns,
          attempt.ended_ns,
          attempt.outcome ? to_string(*attempt.outcome) : "",
          attempt.message.substr(0, kMaxMessageBytes)};
}

// What is left of the bytes that a message of many parts may have for those that can be left out.
struct Room {
  size_t bytes = 400'000;
  bool take(size_t part) {
    if (part > bytes) return false;
    bytes -= part;
    return true;
  }
};

void add_attempts(StepView& view, const StepRow& row, Room& room) {
  view.state = row.state;
  view.epoch = row.epoch;
  view.commits = row.commits;
  for (auto a = row.attempts.rbegin();
       a != row.attempts.rend() && view.attempts.size() < kMaxAttemptsShown; ++a) {
    AttemptView attempt = view_of(*a);
    if (!room.take(100 + attempt.worker.size() + attempt.message.size())) break;
    view.attempts.push_back(std::move(attempt));
  }
  std::reverse(view.attempts.begin(), view.attempts.end());  // oldest first
}

// A job of many targets has room for the beginnings of their messages.
void shorten_faults(std::vector<TargetView>& targets) {
  const size_t longest = std::max<size_t>(200, Room().bytes / std::max<size_t>(1, targets.size()));
  for (TargetView& target : targets) {
    if (target.fault && target.fault->message.size() > longest)
      target.fault->message.resize(longest);
  }
}

}  // namespace

TargetView Jobs::view(const Waiter& at, Now now) const {
  const TargetRequest& request = targets_.build(at.job).request.targets[at.target];
  const LiveTarget& target = targets_.target(at);
  TargetView view;
  view.sku = request.sku;
  view.state = target.row.state;
  view.source = target.row.source;
  view.provisional = request.provisional;
  view.engine = target.row.engine;
  view.key = target.keys.engine;
  view.latency_ms = target.row.latency_ms;
  view.size_bytes = target.row.size_bytes;
  view.timings_measured = target.row.timings_measured;
  view.timings_reused = target.row.timings_reused;
  view.accuracy = target.row.accuracy;
  view.calibration = target.row.calibration;
  view.note = target.row.note;
  view.fault = target.row.fault;
  if (is_end(target.row.state)) return view;
  if (target.step != 0) {
    const LiveStep& step = queue_.step(target.step);
    view.progress = step.progress;
    if (view.progress.phase.empty()) view.progress.phase = queue_.name_of(step.row.kind);
  }
  view.note = targets_.why_waiting(target, now);
  return view;
}

JobView Jobs::view(const LiveJob& job, Detail detail, Now now) const {
  const Build& build = targets_.build(job.number);
  const SubmitRequest& request = build.request;
  JobView view;
  view.id = job_id(job.number);
  view.name = request.name;
  view.model_name = request.model_name;
  view.model = request.model;
  view.state = job.state;
  view.client = request.client;
  view.options = request.options;
  view.priority = request.priority;
  view.tags = request.tags;
  view.submitted_ns = job.submitted_ns;
  view.ended_ns = job.ended_ns;
  view.revision = job.revision;
  for (uint32_t i = 0; i < build.targets.size(); ++i)
    view.targets.push_back(this->view({job.number, i}, now));
  shorten_faults(view.targets);
  if (detail == Detail::steps) view.steps = step_views(job.number);
  return view;
}

std::vector<StepView> Jobs::step_views(uint64_t job) const {
  const Build& build = targets_.build(job);
  std::vector<StepView> views;
  std::set<uint64_t> seen;
  Room room;
  for (uint32_t i = 0; i < build.targets.size(); ++i) {
    for (const StepUse& use : build.targets[i].row.uses) {
      // A step that all targets share is shown once.
      if (use.step != 0 && !seen.insert(use.step).second) continue;
      const Step* row = queue_.row_of(use.kind);
      const bool of_any_sku = row != nullptr && row->needs == Needs::nothing;
      StepView view;
      view.sku = of_any_sku ? "" : build.request.targets[i].sku;
      view.name = queue_.name_of(use.kind);
      view.key = use.key;
      view.step = use.step;
      view.source = use.source;
      view.state = StepState::done;
      const LiveStep* step = queue_.find(use.step);
      if (step != nullptr) add_attempts(view, step->row, room);
      views.push_back(view);
      if (step == nullptr) continue;
      for (const uint64_t id : step->sharing.assistants) {
        StepView assistant = view;
        assistant.name = view.name + " assistant " + std::to_string(queue_.step(id).ordinal);
        assistant.step = id;
        assistant.attempts.clear();
        add_attempts(assistant, queue_.step(id).row, room);
        views.push_back(std::move(assistant));
      }
    }
  }
  return views;
}

JobList Jobs::list(const ListJobs& request, const Sight& sight) const {
  const size_t limit =
      std::min<size_t>(request.limit == 0 ? kJobsListed : request.limit, kMaxJobsListed);
  const uint64_t before = job_number(request.before).value_or(UINT64_MAX);
  JobList list;
  for (auto at = jobs_.rbegin(); at != jobs_.rend() && list.jobs.size() < limit; ++at) {
    if (at->first >= before) continue;
    const Build& build = targets_.build(at->first);
    if (!sees(sight, build.request.tenant)) continue;
    JobLine line{job_id(at->first), build.request.name, at->second.state, at->second.submitted_ns};
    line.total = static_cast<uint32_t>(build.targets.size());
    for (const LiveTarget& target : build.targets) line.done += is_end(target.row.state);
    list.jobs.push_back(std::move(line));
  }
  return list;
}

ExplainReply Jobs::explain(const LiveJob& job, Now now, const Sight& sight) const {
  const JobNames names = [&](uint64_t number) {
    const std::string id = job_id(number);
    return !sight || find(id, sight) != nullptr ? id : "";
  };
  const Build& build = targets_.build(job.number);
  ExplainReply reply;
  Room room;
  for (uint32_t i = 0; i < build.targets.size(); ++i) {
    const LiveTarget& target = build.targets[i];
    ExplainView view{build.request.targets[i].sku, "", targets_.why_waiting(target, now), {}};
    if (is_end(target.row.state))
      view.reason = std::string("has ended: ") + to_string(target.row.state);
    if (!is_end(target.row.state) && target.step != 0) {
      const LiveStep& step = queue_.step(target.step);
      view.step = queue_.name_of(step.row.kind);
      for (const WorkerNo number : living_first(queue_)) {
        const LiveWorker& worker = queue_.worker(number);
        const std::string& name = worker.sync.worker;
        std::string reason = why_not(queue_, worker, step, names);
        if (view.candidates.size() == kMaxCandidates ||
            !room.take(50 + name.size() + reason.size()))
          break;
        view.candidates.push_back({name, std::move(reason)});
      }
    }
    reply.targets.push_back(std::move(view));
  }
  return reply;
}

}  // namespace enginery
