// Sync, the whole worker protocol: what a worker says of itself, and what it should do instead.
#include "coordinator/core/event_handler.h"

namespace enginery {
namespace {

// A worker that has just finished is told nothing for this long: the lookups that may make its next
// step ready are under way.
constexpr Nanoseconds kAfterFinish = std::chrono::milliseconds(2);

uint32_t to_milliseconds(Nanoseconds t) {
  return static_cast<uint32_t>(t / std::chrono::milliseconds(1));
}

}  // namespace

void EventHandler::sync(const Request& request, Turn& turn) {
  const SyncRequest& sync = std::get<SyncRequest>(request.body);
  if (const char* problem = Queue::problem_of(sync))
    return turn.refuse(request.to, ErrorCode::usage, std::string("sync: ") + problem);
  const WorkerNo worker = queue_.worker_of(sync, turn);
  switch (queue_.receive(worker, sync)) {
    case Reception::outlived:
      return turn.reply(request.to, SyncReply{0, Exit{}});
    case Reception::overtake:
      return;
    case Reception::restart:
      report(queue_.lose(worker, "the worker started again", turn), turn);
      break;
    case Reception::take:
      break;
  }
  const bool repeated = queue_.update(worker, sync, turn);
  const std::optional<Nanoseconds> before = polls_.sync_deadline(worker);
  const Nanoseconds until = repeated && before ? *before : turn.now.monotonic + options_.sync_hold;
  polls_.hold_sync(worker, request.to, until);
  report(queue_.heed(worker, request.missing, turn), turn);
  answer_sync(worker, turn);
}

void EventHandler::answer_sync(WorkerNo worker, Turn& turn) {
  switch (queue_.order_for(worker)) {
    case Order::cancel_told:
      return polls_.keep_sync_until(worker, turn.now.monotonic + options_.cancel_hold);
    case Order::cancel:
      return tell(worker, queue_.parting_word(worker), turn);
    case Order::run:
      return tell(worker, targets_.run_message(queue_.step(queue_.worker(worker).lease)), turn);
    case Order::abandon:
      return abandon(queue_.worker(worker).lease, turn);
    case Order::drain:
      return tell(worker, Drain{}, turn);
    case Order::exit:
      return tell(worker, Exit{}, turn);
    case Order::resume:
      return tell(worker, Resume{}, turn);
    case Order::examine:
      return tell(worker, Examine{queue_.worker(worker).exam}, turn);
    case Order::none:
      break;
  }
  dispatch(turn);
  if (std::holds_alternative<Finished>(queue_.worker(worker).sync.state))
    polls_.keep_sync_until(worker, turn.now.monotonic + kAfterFinish);
  else
    polls_.keep_sync(worker);
}

void EventHandler::tell(WorkerNo worker, Desired desired, Turn& turn) {
  queue_.stop_listening(worker);
  if (const std::optional<ReplyTo> to = polls_.take_sync(worker))
    turn.reply(*to, SyncReply{to_milliseconds(options_.sync_hold), std::move(desired)});
}

void EventHandler::release(WorkerNo worker, Turn& turn) {
  if (queue_.worker(worker).listening) answer_sync(worker, turn);
}

void EventHandler::dispatch(Turn& turn) {
  while (const std::optional<Lease> lease = queue_.lease_next(turn)) {
    const LiveStep& step = queue_.step(lease->step);
    if (step.row.assists != 0) targets_.route_log(step, turn);
    tell(lease->worker, targets_.run_message(step), turn);
    for (const Waiter& waiter : queue_.waiters_of(step)) jobs_.update(waiter.job, turn);
  }
}

void EventHandler::abandon(uint64_t step, Turn& turn) {
  if (const std::optional<WorkerNo> holder = queue_.cancel(step, turn)) release(*holder, turn);
}

void EventHandler::end_sync_poll(WorkerNo worker, Turn& turn) {
  const std::optional<Nanoseconds> until = polls_.sync_deadline(worker);
  if (until && *until <= turn.now.monotonic) tell(worker, queue_.parting_word(worker), turn);
}

RunStep Targets::run_message(const LiveStep& step) const {
  ENSURE(!queue_.waiters_of(step).empty(), "a step that nobody waits for was leased");
  const Waiter& waiter = *queue_.waiters_of(step).begin();
  const LiveTarget& target = this->target(waiter);
  const SubmitRequest& request = builds_.at(waiter.job).request;
  RunStep run;
  run.ref = {job_id(waiter.job), step.row.id, step.row.epoch};
  run.kind = to_string(step.row.kind, options_.steps);
  run.key = step.row.key;
  run.sku = step.row.sku;
  run.name = request.name;
  run.model_name = request.model_name;
  run.model = request.model;
  run.options = request.options;
  run.inputs = request.inputs;
  const std::vector<NamedBlob>& outputs = target.gathered.outputs;
  run.inputs.insert(run.inputs.end(), outputs.begin(), outputs.end());
  run.engine_key = target.keys.engine;
  run.facts = target.gathered.facts;
  for (const NamedText& field : request_of(waiter).engine_key)
    run.facts.push_back({"key." + field.name, field.value});
  run.provisional = step.row.provisional;
  run.assistant = step.ordinal;
  return run;
}

}  // namespace enginery
