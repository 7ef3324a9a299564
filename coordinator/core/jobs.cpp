#include "coordinator/core/jobs.h"

#include <algorithm>
#include <cstring>

#include "coordinator/core/submit_check.h"
#include "pipeline/claims.h"

namespace enginery {
namespace {

constexpr Nanoseconds kMaxJobPoll = std::chrono::seconds(30);

// A client chooses its ids: the same one from another key is another request.
RequestId id_of(const Request& request) {
  const RequestId own = request.to.request;
  if (request.principal.empty()) return own;
  const Digest digest = sha256(request.principal + " " + own.text());
  RequestId scoped;
  std::memcpy(&scoped.high, digest.bytes.data(), sizeof scoped.high);
  std::memcpy(&scoped.low, digest.bytes.data() + sizeof scoped.high, sizeof scoped.low);
  return scoped;
}

JobState state_of(const std::vector<LiveTarget>& targets) {
  size_t ended = 0, failed = 0, cancelled = 0, running = 0;
  for (const LiveTarget& target : targets) {
    ended += is_end(target.row.state);
    failed += target.row.state == TargetState::failed;
    cancelled += target.row.state == TargetState::cancelled;
    running += target.row.state == TargetState::running;
  }
  if (ended == targets.size()) {
    if (cancelled > 0) return JobState::cancelled;
    return failed > 0 ? JobState::failed : JobState::done;
  }
  return running + ended > 0 ? JobState::running : JobState::queued;
}

}  // namespace

void Jobs::load(std::map<uint64_t, JobRow> jobs) {
  for (auto& [number, row] : jobs) {
    next_job_ = std::max(next_job_, number + 1);
    by_request_[row.request_id] = number;
    jobs_[number] = {number,       row.state, row.request_id, row.submitted_ns,
                     row.ended_ns, 1,         std::nullopt};
    if (is_end(row.state)) ended_.insert({row.ended_ns, number});
    if (!is_end(row.state)) ++open_[row.request.client];
    targets_.add(number, std::move(row.request), std::move(row.targets));
    if (is_end(row.state)) targets_.forget_details(number);
  }
}

void Jobs::start(Turn& turn) {
  for (const auto& [number, job] : jobs_) {
    if (is_end(job.state)) continue;
    const std::vector<LiveTarget>& targets = targets_.build(number).targets;
    for (uint32_t i = 0; i < targets.size(); ++i)
      if (!is_end(targets[i].row.state)) begin(number, i, turn);
  }
}

void Jobs::begin(uint64_t job, uint32_t target, Turn& turn) {
  if (targets_.begin({job, target}, turn) != Change::none) update(job, turn);
}

void Jobs::submit(Request& request, Turn& turn) {
  SubmitRequest& submit = std::get<SubmitRequest>(request.body);
  if (const auto known = by_request_.find(id_of(request)); known != by_request_.end()) {
    LiveJob& job = jobs_.at(known->second);
    if (job.submit_reply)
      job.submit_reply = request.to;  // the repetition takes the answer
    else
      turn.reply(request.to, JobReply{view(job, Detail::targets, turn.now)});
    return;
  }
  Status status = check_submit(submit, request.missing, queue_.skus());
  if (status.ok()) status = check_claims(submit);
  if (!status.ok()) return turn.refuse(request.to, status.error().code, status.error().message);
  if (submit.client.empty()) submit.client = request.client;
  if (submit.dry_run) return dry_runs_.begin(request, submit, turn);
  if (const Status limit = check_limit(submit); !limit.ok())
    return turn.refuse(request.to, limit.error().code, limit.error().message);
  make_job(request, std::move(submit), turn);
}

Status Jobs::check_limit(const SubmitRequest& submit) const {
  const auto open = open_.find(submit.client);
  if (open == open_.end() || open->second < options_.max_open_jobs) return {};
  return Error{ErrorCode::usage, "submit: client '" + submit.client + "' has " +
                                     std::to_string(open->second) +
                                     " jobs that have not ended, and a client may have " +
                                     std::to_string(options_.max_open_jobs) +
                                     " (coordinator --client-jobs); wait for some, or cancel them"};
}

void Jobs::make_job(const Request& request, SubmitRequest submit, Turn& turn) {
  JobRow row;
  row.number = next_job_++;
  row.request_id = id_of(request);
  row.submitted_ns = turn.now.wall.count();
  row.request = std::move(submit);
  row.targets.resize(row.request.targets.size());

  const uint64_t number = row.number;
  jobs_[number] = {number, row.state, row.request_id, row.submitted_ns, 0, 1, request.to};
  by_request_[row.request_id] = number;
  ++open_[row.request.client];
  const Build& build = targets_.add(number, row.request, row.targets);
  turn.save(InsertJob{std::move(row)});
  targets_.record_keys(number, turn);
  turn.record(number, "submitted",
              {{"name", build.request.name}, {"client", build.request.client}});
  for (uint32_t i = 0; i < build.targets.size(); ++i) begin(number, i, turn);
  answer_submit(number, turn);
}

void Jobs::answer_submit(uint64_t number, Turn& turn) {
  LiveJob& job = jobs_.at(number);
  if (!job.submit_reply) return;
  for (const LiveTarget& target : targets_.build(number).targets)
    if (target.looking) return;
  turn.reply(*job.submit_reply, JobReply{view(job, Detail::targets, turn.now)});
  job.submit_reply.reset();
}

void Jobs::dry_run_answer(const LookupAnswer& answer, Turn& turn) {
  dry_runs_.answer(answer, turn);
}

void Jobs::wait(const Request& request, const WaitJob& wait, Turn& turn) {
  const LiveJob* job = find(wait.job, request.sight);
  if (job == nullptr)
    return turn.refuse(request.to, ErrorCode::not_found,
                       "wait: no job '" + wait.job.substr(0, 80) + "' (enginery jobs lists them)");
  const bool changed =
      is_end(job->state) || (!wait.until_end && job->revision != wait.known_revision);
  if (changed || wait.hold_ms == 0)
    return turn.reply(request.to, JobReply{view(*job, Detail::targets, turn.now)});
  const Nanoseconds time =
      std::min<Nanoseconds>(std::chrono::milliseconds(wait.hold_ms), kMaxJobPoll);
  polls_.hold_job(job->number, request.to, wait.until_end ? PollFor::the_end : PollFor::any_change,
                  turn.now.monotonic + time);
}

void Jobs::update(uint64_t number, Turn& turn) {
  LiveJob& job = jobs_.at(number);
  targets_.note_running(number);
  const JobState state = state_of(targets_.build(number).targets);
  const bool changed = state != job.state;
  if (changed) {
    job.state = state;
    if (is_end(state)) job.ended_ns = turn.now.wall.count();
    turn.save(UpdateJob{number, state, job.ended_ns});
  }
  if (changed && is_end(state)) {
    const auto open = open_.find(targets_.build(number).request.client);
    if (--open->second == 0) open_.erase(open);
    turn.record(number, "job_ended", {{"state", to_string(state)}});
    turn.out.ended_jobs.push_back(job_id(number));
    answer_submit(number, turn);
    targets_.forget_details(number);
    ended_.insert({job.ended_ns, number});
  }
  touch(number, turn);
}

void Jobs::touch(uint64_t number, Turn& turn) {
  LiveJob& job = jobs_.at(number);
  ++job.revision;
  const PollFor what = is_end(job.state) ? PollFor::the_end : PollFor::any_change;
  for (const ReplyTo& to : polls_.take_job(number, what))
    turn.reply(to, JobReply{view(job, Detail::targets, turn.now)});
}

void Jobs::forget_old(Turn& turn) {
  const int64_t oldest = (turn.now.wall - options_.ended_jobs_age).count();
  for (auto job = ended_.begin(); job != ended_.end();) {
    const auto [ended_ns, number] = *job;
    if (ended_.size() <= options_.ended_jobs_kept && ended_ns >= oldest) return;
    if (number + 1 == next_job_ || !targets_.may_go(number)) {
      ++job;
      continue;
    }
    job = ended_.erase(job);
    by_request_.erase(jobs_.at(number).request);
    jobs_.erase(number);
    turn.save(ForgetJob{number, targets_.forget(number)});
    turn.out.forgotten_jobs.push_back(job_id(number));
  }
}

void Jobs::end_polls(uint64_t number, Turn& turn) {
  const auto job = jobs_.find(number);
  if (job == jobs_.end()) return;
  for (const ReplyTo& to : polls_.take_expired(number, turn.now.monotonic))
    turn.reply(to, JobReply{view(job->second, Detail::targets, turn.now)});
}

const LiveJob* Jobs::find(const std::string& id, const Sight& sight) const {
  const std::optional<uint64_t> number = job_number(id);
  if (!number) return nullptr;
  const auto found = jobs_.find(*number);
  if (found == jobs_.end() || !sees(sight, targets_.build(*number).request.tenant)) return nullptr;
  return &found->second;
}

std::vector<std::string> Jobs::ids_of(bool ended) const {
  std::vector<std::string> ids;
  for (const auto& [number, job] : jobs_)
    if (is_end(job.state) == ended) ids.push_back(job_id(number));
  return ids;
}

std::string Jobs::check(Now now) const {
  for (const auto& [number, job] : jobs_) {
    for (const LiveTarget& target : targets_.build(number).targets) {
      if (is_end(target.row.state)) continue;
      if (is_end(job.state)) return job_id(number) + " has ended before a target";
      if (targets_.why_waiting(target, now).empty()) return job_id(number) + " has no explanation";
    }
    if (is_end(job.state) && job.submit_reply)
      return job_id(number) + " has ended and its submit has no answer";
  }
  return "";
}

}  // namespace enginery
