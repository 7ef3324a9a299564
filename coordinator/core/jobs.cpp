// A job's own state, which follows from its targets, and those who wait for it to change.
#include "coordinator/core/state.h"

namespace enginery {
namespace {

struct Tally {
  size_t ended = 0, done = 0, failed = 0, cancelled = 0, running = 0;
};

Tally tally(const std::vector<LiveTarget>& targets) {
  Tally t;
  for (const LiveTarget& target : targets) {
    t.ended += is_end(target.row.state);
    t.done += target.row.state == TargetState::done;
    t.failed += target.row.state == TargetState::failed;
    t.cancelled += target.row.state == TargetState::cancelled;
    t.running += target.row.state == TargetState::running;
  }
  return t;
}

JobState state_of(const std::vector<LiveTarget>& targets) {
  const Tally t = tally(targets);
  if (t.ended == targets.size()) {
    if (t.cancelled > 0) return JobState::cancelled;
    return t.failed > 0 ? JobState::failed : JobState::done;
  }
  return t.running + t.ended > 0 ? JobState::running : JobState::queued;
}

// What only the way there needed; the rows on disk keep it.
void forget_details(LiveJob& job) {
  SubmitRequest& request = job.row.request;
  request.validate_key = {};
  for (TargetRequest& target : request.targets) target.engine_key = target.tune_key = {};
  for (LiveTarget& target : job.targets) {
    target.outputs = {};
    target.metrics = {};
    target.facts = {};
    target.start = {};
  }
}

}  // namespace

void CoreState::update_job(LiveJob& job) {
  for (LiveTarget& target : job.targets) {
    if (target.row.state != TargetState::queued || target.step == 0) continue;
    const StepState step = steps.at(target.step).row.state;
    if (step == StepState::leased || step == StepState::running || step == StepState::committing)
      target.row.state = TargetState::running;
  }
  const JobState state = state_of(job.targets);
  const bool changed = state != job.row.state;
  if (changed) {
    job.row.state = state;
    if (is_end(state)) job.row.ended_ns = now.wall.count();
    save(UpdateJob{job.row.number, state, job.row.ended_ns});
  }
  if (changed && is_end(state)) {
    record(job.row.number, "job_ended", {{"state", to_string(state)}});
    out->ended_jobs.push_back(job_id(job.row.number));
    answer_submit(job);
    forget_details(job);
  }
  touch(job);
}

void CoreState::touch(LiveJob& job) {
  ++job.revision;
  std::vector<JobHold> kept;
  for (JobHold& hold : job.holds) {
    if (hold.until_end && !is_end(job.row.state))
      kept.push_back(std::move(hold));
    else
      reply(hold.to, JobReply{view(job, false)});
  }
  job.holds = std::move(kept);
}

}  // namespace enginery
