// Time: long polls that end, workers that fell silent, steps whose rest is over.
#include "coordinator/core/state.h"

namespace enginery {

void CoreState::timer_fired() {
  while (!timers.empty() && timers.top().at <= now.monotonic) {
    const Timer timer = timers.top();
    timers.pop();
    fire(timer);
  }
}

// Entries are never taken out of the heap: each checks whether it still means something.
void CoreState::fire(const Timer& timer) {
  switch (timer.kind) {
    case TimerKind::worker_hold: {
      LiveWorker& worker = workers[timer.id];
      if (!worker.held || worker.held->until > now.monotonic) return;
      const ReplyTo to = worker.held->to;
      worker.held.reset();
      set_idle(worker);
      const auto* run = std::get_if<Running>(&worker.sync.state);
      const uint32_t next = static_cast<uint32_t>(options.sync_hold / std::chrono::milliseconds(1));
      Desired desired = Keep{};
      if (run != nullptr && !owns(worker, run->ref)) desired = Cancel{run->ref};
      if (std::holds_alternative<Finished>(worker.sync.state)) desired = BeIdle{};
      return reply(to, SyncReply{next, std::move(desired)});
    }
    case TimerKind::worker_lost: {
      LiveWorker& worker = workers[timer.id];
      const Nanoseconds deadline = worker.seen + options.worker_lost_after;
      if (worker.lost) return;
      if (deadline > now.monotonic) return arm(deadline, TimerKind::worker_lost, timer.id);
      worker.lost = true;
      worker.held.reset();
      set_idle(worker);
      dirty_devices.insert(worker.sync.device);
      record(0, "worker_lost", {{"worker", worker.sync.worker}});
      return lose_worker(worker, "worker " + worker.sync.worker + " fell silent");
    }
    case TimerKind::job_hold: {
      const auto job = jobs.find(timer.id);
      if (job == jobs.end()) return;
      std::vector<JobHold> kept;
      for (JobHold& hold : job->second.holds) {
        if (hold.until > now.monotonic)
          kept.push_back(std::move(hold));
        else
          reply(hold.to, JobReply{view(job->second, false)});
      }
      job->second.holds = std::move(kept);
      return;
    }
    case TimerKind::back_off: {
      const auto step = steps.find(timer.id);
      if (step != steps.end() && step->second.row.state == StepState::queued) enqueue(step->second);
      return;
    }
    case TimerKind::sign_again: {
      const auto step = steps.find(timer.id);
      if (step == steps.end() || step->second.row.state != StepState::committing ||
          step->second.waiters.empty())
        return;
      return ask_for_signature(step->second);
    }
  }
}

}  // namespace enginery
