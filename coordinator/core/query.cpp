// The requests of clients, each handed to the object that it concerns.
#include "coordinator/core/event_handler.h"
#include "coordinator/core/farm_views.h"

namespace enginery {

void EventHandler::query(const Request& request, Turn& turn) {
  const ReplyTo& to = request.to;
  const auto with_job = [&](const std::string& id, const char* verb, auto answer) {
    if (const LiveJob* job = jobs_.find(id)) return answer(*job);
    turn.refuse(to, ErrorCode::not_found,
                std::string(verb) + ": no job '" + id.substr(0, 80) + "'");
  };
  if (const auto* show = std::get_if<ShowJob>(&request.body)) {
    with_job(show->job, "show", [&](const LiveJob& job) {
      turn.reply(to, JobReply{jobs_.view(job, Jobs::Detail::steps, turn.now)});
    });
  } else if (const auto* explain = std::get_if<ExplainJob>(&request.body)) {
    with_job(explain->job, "explain",
             [&](const LiveJob& job) { turn.reply(to, jobs_.explain(job, turn.now)); });
  } else if (const auto* cancelled = std::get_if<CancelJob>(&request.body)) {
    cancel(request, cancelled->job, turn);
  } else if (const auto* waiting = std::get_if<WaitJob>(&request.body)) {
    jobs_.wait(request, *waiting, turn);
  } else if (const auto* jobs = std::get_if<ListJobs>(&request.body)) {
    turn.reply(to, jobs_.list(*jobs));
  } else if (std::holds_alternative<ListSkus>(request.body)) {
    turn.reply(to, sku_list(queue_));
  } else if (std::holds_alternative<ListWorkers>(request.body)) {
    turn.reply(to, worker_list(queue_, turn.now));
  } else if (const auto* drained = std::get_if<DrainWorker>(&request.body)) {
    drain(request, *drained, turn);
  } else {
    turn.refuse(to, ErrorCode::unsupported, "this is not a request of the control socket");
  }
}

void EventHandler::cancel(const Request& request, const std::string& id, Turn& turn) {
  const LiveJob* job = jobs_.find(id);
  if (job == nullptr)
    return turn.refuse(request.to, ErrorCode::not_found, "cancel: no job '" + id + "'");
  if (!is_end(job->state)) {
    turn.record(job->number, "cancel", {});
    const size_t count = targets_.build(job->number).targets.size();
    for (uint32_t i = 0; i < count; ++i) {
      const Waiter waiter{job->number, i};
      const uint64_t step = targets_.target(waiter).step;
      report(waiter, targets_.cancel(waiter, turn), turn);
      if (step != 0 && queue_.leave(step, waiter)) abandon(step, turn);
    }
  }
  turn.reply(request.to, JobReply{jobs_.view(*job, Jobs::Detail::targets, turn.now)});
}

void EventHandler::drain(const Request& request, const DrainWorker& asked, Turn& turn) {
  const std::optional<WorkerNo> worker = queue_.worker_named(asked.worker);
  if (!worker)
    return turn.refuse(request.to, ErrorCode::not_found, "drain: no worker '" + asked.worker + "'");
  queue_.drain(*worker, asked, turn);
  release(*worker, turn);
  turn.reply(request.to, Done{});
}

}  // namespace enginery
