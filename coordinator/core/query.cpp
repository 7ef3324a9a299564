// The requests of clients, each handed to the object that it concerns.
#include "coordinator/core/event_handler.h"
#include "coordinator/core/farm_views.h"

namespace enginery {

// One overload for each request of the control socket: one that is missing does not compile.
struct EventHandler::RequestDispatch {
  EventHandler& core;
  Request& request;
  Turn& turn;

  void operator()(const SubmitRequest&) { core.jobs_.submit(request, turn); }
  void operator()(const SyncRequest&) { core.sync(request, turn); }
  void operator()(const CancelJob& asked) { core.cancel(request, asked.job, turn); }
  void operator()(const WaitJob& asked) { core.jobs_.wait(request, asked, turn); }
  void operator()(const DrainWorker& asked) { core.drain(request, asked, turn); }
  void operator()(const UndrainWorker& asked) { core.undrain(request, asked.worker, turn); }
  void operator()(const ForgetWorker& asked) { core.forget(request, asked.worker, turn); }
  void operator()(const TakeProblem& asked) {
    const bool taken = take(asked);
    turn.reply(request.to, ProblemTaken{taken, core.queue_.sharers(asked.ref.step)});
  }
  void operator()(const ListJobs& asked) {
    turn.reply(request.to, core.jobs_.list(asked, request.sight));
  }
  void operator()(const ListSkus&) { turn.reply(request.to, sku_list(core.queue_)); }
  void operator()(const ListWorkers&) {
    WorkerList list = worker_list(core.queue_, turn.now);
    for (WorkerView& worker : list.workers) hide_work(worker);
    turn.reply(request.to, std::move(list));
  }
  void operator()(const ShowJob& asked) {
    with_job("show", asked.job, [&](const LiveJob& job) {
      return JobReply{core.jobs_.view(job, Jobs::Detail::steps, turn.now)};
    });
  }
  void operator()(const ExplainJob& asked) {
    with_job("explain", asked.job,
             [&](const LiveJob& job) { return core.jobs_.explain(job, turn.now, request.sight); });
  }
  // The server answers these before they come here (control_server.cpp).
  void operator()(const Hello&) { refuse(); }
  void operator()(const JoinFarm&) { refuse(); }
  void operator()(const FindEngines&) { refuse(); }
  void operator()(const WhyMiss&) { refuse(); }
  void operator()(const AskCatalog&) { refuse(); }
  void operator()(const OrderCatalog&) { refuse(); }
  void operator()(const ListEvents&) { refuse(); }
  void operator()(const MakeSet&) { refuse(); }

  template <typename Other>
    requires(!ControlRequest<Other>)
  void operator()(const Other&) {
    refuse();
  }

 private:
  // That a worker is busy everybody may know.
  void hide_work(WorkerView& worker) const {
    if (worker.job.empty() || core.jobs_.find(worker.job, request.sight) != nullptr) return;
    worker.job.clear();
    worker.step.clear();
    worker.progress = {};
  }
  // Idle workers may begin to assist at once: the answer counts them.
  bool take(const TakeProblem& asked) {
    const bool taken = core.queue_.take_problem(asked);
    core.dispatch(turn);
    return taken;
  }
  void refuse() {
    turn.refuse(request.to, ErrorCode::unsupported, "this is not a request of the control socket");
  }
  template <typename Answer>
  void with_job(const char* verb, const std::string& id, Answer answer) {
    if (const LiveJob* job = core.jobs_.find(id, request.sight))
      return turn.reply(request.to, answer(*job));
    turn.refuse(
        request.to, ErrorCode::not_found,
        std::string(verb) + ": no job '" + id.substr(0, 80) + "' (enginery jobs lists them)");
  }
};

void EventHandler::query(Request& request, Turn& turn) {
  std::visit(RequestDispatch{*this, request, turn}, request.body);
}

void EventHandler::cancel(const Request& request, const std::string& id, Turn& turn) {
  const LiveJob* job = jobs_.find(id, request.sight);
  if (job == nullptr)
    return turn.refuse(request.to, ErrorCode::not_found,
                       "cancel: no job '" + id.substr(0, 80) + "' (enginery jobs lists them)");
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

std::optional<WorkerNo> EventHandler::worker_for(const Request& request, const char* verb,
                                                 const std::string& name, Turn& turn) {
  const std::optional<WorkerNo> worker = queue_.worker_named(name);
  if (!worker)
    turn.refuse(request.to, ErrorCode::not_found,
                std::string(verb) + ": no worker '" + name.substr(0, 80) +
                    "' (enginery workers lists them)");
  return worker;
}

void EventHandler::drain(const Request& request, const DrainWorker& asked, Turn& turn) {
  const auto worker = worker_for(request, "drain", asked.worker, turn);
  if (!worker) return;
  queue_.drain(*worker, asked, turn);
  release(*worker, turn);
  turn.reply(request.to, Done{});
}

void EventHandler::undrain(const Request& request, const std::string& name, Turn& turn) {
  const auto worker = worker_for(request, "undrain", name, turn);
  if (!worker) return;
  queue_.undrain(*worker, turn);
  release(*worker, turn);
  turn.reply(request.to, Done{});
}

void EventHandler::forget(const Request& request, const std::string& name, Turn& turn) {
  const auto worker = worker_for(request, "forget", name, turn);
  if (!worker) return;
  if (!queue_.forget_worker(*worker, turn))
    return turn.refuse(request.to, ErrorCode::usage,
                       "forget: worker '" + name +
                           "' is connected, and would be back at once; end it first, with "
                           "`enginery drain WORKER --exit`");
  turn.reply(request.to, Done{});
}

}  // namespace enginery
