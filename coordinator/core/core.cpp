#include "coordinator/core/core.h"

#include "coordinator/core/state.h"

namespace enginery {

Core::Core(CoreOptions options, LoadedQueue queue) : state_(std::make_unique<CoreState>()) {
  state_->options = std::move(options);
  state_->load(std::move(queue));
}
Core::~Core() = default;

Effects Core::start(Now now) {
  Effects effects;
  state_->now = now;
  state_->out = &effects;
  state_->start();
  state_->dispatch();
  state_->out = nullptr;
  return effects;
}

Effects Core::step(CoreEvent event, Now now) {
  Effects effects;
  state_->now = now;
  state_->out = &effects;
  state_->handle(event);
  state_->dispatch();
  state_->out = nullptr;
  return effects;
}

std::optional<Nanoseconds> Core::next_timer() const {
  if (state_->timers.empty()) return std::nullopt;
  return state_->timers.top().at;
}

std::vector<Digest> Core::engine_keys(const std::string& job) const {
  std::vector<Digest> keys;
  if (const LiveJob* found = static_cast<const CoreState&>(*state_).find_job(job))
    for (const LiveTarget& target : found->targets) keys.push_back(target.engine_key);
  return keys;
}

std::optional<JobView> Core::view(const std::string& job) const {
  const LiveJob* found = static_cast<const CoreState&>(*state_).find_job(job);
  if (found == nullptr) return std::nullopt;
  return state_->view(*found, true);
}

std::vector<std::string> Core::job_ids(bool ended) const {
  std::vector<std::string> ids;
  for (const auto& [number, job] : state_->jobs)
    if (is_end(job.row.state) == ended) ids.push_back(job_id(number));
  return ids;
}

std::string Core::check() const {
  return state_->check();
}

void CoreState::load(LoadedQueue queue) {
  skus = std::move(queue.skus);
  for (auto& [id, row] : queue.steps) {
    next_step = std::max(next_step, id + 1);
    LiveStep& step = steps[id];
    step.row = std::move(row);
    if (!is_end(step.row.state)) in_flight[step.row.key] = id;
  }
  for (auto& [number, row] : queue.jobs) {
    next_job = std::max(next_job, number + 1);
    job_by_request[row.request_id] = number;
    LiveJob& job = jobs[number];
    job.row = std::move(row);
    for (uint32_t i = 0; i < job.row.targets.size(); ++i) {
      LiveTarget target;
      target.row = std::move(job.row.targets[i]);
      job.targets.push_back(std::move(target));
    }
    job.row.targets.clear();
    set_keys(job);
  }
}

// Workers of the leases before the restart go on running: each has until worker_lost_after to sync.
void CoreState::start() {
  started = now.monotonic;
  for (auto& [id, step] : steps) {
    if (is_end(step.row.state) || step.row.worker.empty()) continue;
    SyncRequest last;
    last.worker = step.row.worker;
    last.incarnation = step.row.incarnation;
    last.sku = step.row.sku;
    last.device = step.row.device;
    last.state = Running{{job_id(step.row.job), id, step.row.epoch}, {}};
    LiveWorker& worker = find_worker(last);
    worker.sync = last;
    worker.lease = id;
    devices[last.device].insert(worker.number);
    step.progress_at = now.monotonic;
  }
  for (auto& [number, job] : jobs) {
    if (is_end(job.row.state)) continue;
    for (uint32_t i = 0; i < job.targets.size(); ++i)
      if (!is_end(job.targets[i].row.state)) begin_target(job, i);
  }
}

void CoreState::handle(CoreEvent& event) {
  if (auto* request = std::get_if<Request>(&event)) {
    if (std::holds_alternative<SyncRequest>(request->body)) return sync(*request);
    if (std::holds_alternative<SubmitRequest>(request->body)) return submit(*request);
    if (!query(*request))
      refuse(request->to, ErrorCode::unsupported, "this is not a request of the control socket");
  } else if (auto* answer = std::get_if<LookupAnswer>(&event)) {
    looked_up(*answer);
  } else if (auto* signature = std::get_if<SignAnswer>(&event)) {
    signed_answer(*signature);
  } else {
    timer_fired();
  }
}

void CoreState::refuse(const ReplyTo& to, ErrorCode code, std::string message) {
  reply(to, ErrorReply{{code, std::move(message)}});
}

void CoreState::record(uint64_t job, const char* kind, std::vector<NamedText> fields) {
  save(AppendEvent{job == 0 ? "" : job_id(job), kind, std::move(fields)});
}

}  // namespace enginery
