#include "coordinator/core/polls.h"

#include <algorithm>
#include <set>

namespace enginery {

void Polls::arm(const std::vector<Timer>& timers) {
  for (const Timer& timer : timers) timers_.push(timer);
}

std::optional<Nanoseconds> Polls::next_timer() const {
  if (timers_.empty()) return std::nullopt;
  return timers_.top().at;
}

std::optional<Timer> Polls::take_due(Nanoseconds now) {
  if (timers_.empty() || timers_.top().at > now) return std::nullopt;
  const Timer timer = timers_.top();
  timers_.pop();
  return timer;
}

void Polls::hold_sync(WorkerNo worker, const ReplyTo& to, Nanoseconds until) {
  syncs_[worker] = {to, until};
}

void Polls::keep_sync(WorkerNo worker) {
  const auto held = syncs_.find(worker);
  if (held != syncs_.end()) timers_.push({held->second.until, TimerKind::worker_poll, worker});
}

void Polls::keep_sync_until(WorkerNo worker, Nanoseconds until) {
  const auto held = syncs_.find(worker);
  if (held == syncs_.end()) return;
  held->second.until = until;
  keep_sync(worker);
}

std::optional<Nanoseconds> Polls::sync_deadline(WorkerNo worker) const {
  const auto held = syncs_.find(worker);
  if (held == syncs_.end()) return std::nullopt;
  return held->second.until;
}

std::optional<ReplyTo> Polls::take_sync(WorkerNo worker) {
  const auto held = syncs_.find(worker);
  if (held == syncs_.end()) return std::nullopt;
  ReplyTo to = std::move(held->second.to);
  syncs_.erase(held);
  return to;
}

void Polls::hold_job(uint64_t job, const ReplyTo& to, PollFor what, Nanoseconds until) {
  std::vector<JobPoll>& held = jobs_[job];
  const auto repeated =
      std::any_of(held.begin(), held.end(), [&](const JobPoll& poll) { return poll.to == to; });
  if (repeated) return;
  held.push_back({to, what, until});
  timers_.push({until, TimerKind::job_poll, job});
}

template <typename Answers>
std::vector<ReplyTo> Polls::take(uint64_t job, Answers answers) {
  const auto held = jobs_.find(job);
  if (held == jobs_.end()) return {};
  std::vector<ReplyTo> taken;
  std::vector<JobPoll> kept;
  for (JobPoll& poll : held->second) {
    if (answers(poll))
      taken.push_back(std::move(poll.to));
    else
      kept.push_back(std::move(poll));
  }
  if (kept.empty())
    jobs_.erase(held);
  else
    held->second = std::move(kept);
  return taken;
}

std::vector<ReplyTo> Polls::take_job(uint64_t job, PollFor what) {
  return take(job, [&](const JobPoll& poll) {
    return what == PollFor::the_end || poll.what == PollFor::any_change;
  });
}

std::vector<ReplyTo> Polls::take_expired(uint64_t job, Nanoseconds now) {
  return take(job, [&](const JobPoll& poll) { return poll.until <= now; });
}

std::string Polls::check() const {
  const std::set<Timer> armed(timers_.entries().begin(), timers_.entries().end());
  for (const auto& [worker, poll] : syncs_)
    if (!armed.count({poll.until, TimerKind::worker_poll, worker}))
      return "the held Sync of worker " + std::to_string(worker) + " has no timer";
  for (const auto& [job, held] : jobs_)
    for (const JobPoll& poll : held)
      if (!armed.count({poll.until, TimerKind::job_poll, job}))
        return "a held wait for " + job_id(job) + " has no timer";
  return "";
}

}  // namespace enginery
