#include "tests/coordinator/core/core_harness.h"

#include <algorithm>

namespace enginery {

void CoreHarness::restart() {
  answers_.clear();
  signing_.clear();
  Result<std::unique_ptr<QueueDriver>> driver = QueueDriver::open(store, *this, options_);
  ASSERT_TRUE(driver.ok());
  driver_ = std::move(*driver);
  flush();
}

void CoreHarness::flush() {
  Outbox outbox = driver_->flush();
  for (Reply& reply : outbox.replies) answers_.push_back(std::move(reply));
  for (const SignTask& task : outbox.signing) signing_.push_back(task);
  if (checks_) {
    EXPECT_EQ(driver_->core().check(), "");
  }
  EXPECT_EQ(store.violation(), "");
}

void CoreHarness::pass(Nanoseconds time) {
  const Nanoseconds end = now_ + time;
  while (true) {
    const std::optional<Nanoseconds> next = driver_->next_timer();
    if (!next || *next > end) break;
    now_ = std::max(now_, *next);
    driver_->feed(TimerFired{});
    flush();
  }
  now_ = end;
}

std::optional<Body> CoreHarness::ask(Body body, const std::string& who,
                                     std::optional<RequestId> id) {
  const ReplyTo to{who, id.value_or(RequestId{0, next_id_++})};
  Request request{to, who, std::move(body), {}};
  if (const auto* submit = std::get_if<SubmitRequest>(&request.body);
      submit != nullptr && !store.has_blob(submit->model))
    request.missing.push_back(submit->model);
  if (const auto* sync = std::get_if<SyncRequest>(&request.body))
    if (const auto* finished = std::get_if<Finished>(&sync->state))
      for (const NamedBlob& output : finished->outcome.outputs)
        if (!store.has_blob(output.digest)) request.missing.push_back(output.digest);
  driver_->feed(std::move(request));
  flush();
  const auto answer = std::find_if(answers_.begin(), answers_.end(),
                                   [&](const Reply& reply) { return reply.to == to; });
  if (answer == answers_.end()) return std::nullopt;
  Body out = std::move(answer->body);
  answers_.erase(answer);
  return out;
}

JobView CoreHarness::submit(SubmitRequest request, const std::string& client) {
  store.add_blob(request.model, 0, 0);
  request.client = client;
  request.wait_for_workers = true;
  return body_of<JobReply>(ask(std::move(request), client)).job;
}

JobView CoreHarness::show(const std::string& job) {
  return body_of<JobReply>(ask(ShowJob{job})).job;
}

std::optional<SyncReply> CoreHarness::sync(const std::string& worker, const std::string& sku,
                                           WorkerState state, const std::string& device,
                                           uint64_t incarnation) {
  SyncRequest sync;
  sync.worker = worker;
  sync.incarnation = incarnation;
  sync.sequence = ++sequences_[worker];
  sync.sku = sku;
  sync.kind = "cpu";
  sync.toolchain = "tool 1";
  sync.device = device.empty() ? worker : device;
  sync.state = std::move(state);
  std::erase_if(answers_, [&](const Reply& reply) { return reply.to.route == worker; });
  const std::optional<Body> body = ask(std::move(sync), worker);
  if (!body) return std::nullopt;  // held
  return body_of<SyncReply>(body);
}

std::optional<SyncReply> CoreHarness::heard(const std::string& worker) {
  for (const Reply& reply : answers_)
    if (reply.to.route == worker) return body_of<SyncReply>(reply.body);
  return std::nullopt;
}

bool CoreHarness::answered(const std::string& who) {
  return std::erase_if(answers_, [&](const Reply& reply) { return reply.to.route == who; }) > 0;
}

std::optional<SyncReply> CoreHarness::finish(const std::string& worker, const std::string& sku,
                                             const RunStep& run, const std::string& device) {
  return sync(worker, sku, Finished{run.ref, outcome_of(store, run, options_.steps)}, device);
}

void CoreHarness::sign() {
  for (const SignTask& task : std::exchange(signing_, {})) {
    const Digest engine = sha256("signed " + task.engine.blob.hex());
    store.add_blob(engine, 0, 0);
    driver_->feed(SignAnswer{task.step, task.epoch, NamedBlob{"engine", engine, 10}, {}});
    flush();
  }
}

RunStep run_of(const std::optional<SyncReply>& reply) {
  if (!reply || !std::holds_alternative<RunStep>(reply->desired)) {
    ADD_FAILURE() << "no step was handed out"
                  << (reply ? ", but order " + std::to_string(reply->desired.index()) : "");
    return {};
  }
  return std::get<RunStep>(reply->desired);
}

StepView step_of(const JobView& view, size_t index) {
  if (index < view.steps.size()) return view.steps[index];
  ADD_FAILURE() << "the job has " << view.steps.size() << " steps";
  return {};
}

TargetView target_of(const JobView& view, size_t index) {
  if (index < view.targets.size()) return view.targets[index];
  ADD_FAILURE() << "the job has " << view.targets.size() << " targets";
  return {};
}

Digest engine_of(const JobView& view, size_t index) {
  const TargetView target = target_of(view, index);
  if (target.engine) return *target.engine;
  ADD_FAILURE() << "the target has no engine; it is " << to_string(target.state);
  return {};
}

Fault fault_of(const JobView& view, size_t index) {
  const TargetView target = target_of(view, index);
  if (target.fault) return *target.fault;
  ADD_FAILURE() << "the target has no fault; it is " << to_string(target.state);
  return {};
}

Outcome outcome_of(MemoryStore& store, const RunStep& run, StepTable table) {
  Outcome outcome;
  const Step* step = find_step(run.kind, table);
  if (step == nullptr) {
    ADD_FAILURE() << "no step is named '" << run.kind << "'";
    return outcome;
  }
  if (step->kind == StepKind::validate) outcome.facts = {structure_fact(run)};
  const std::string& name = needed_output(*step, run.provisional);
  if (name.empty()) return outcome;
  const std::string content = name + run.key.hex();
  store.add_blob(sha256(content), run.ref.epoch, run.ref.step);
  outcome.outputs.push_back({name, sha256(content), content.size()});
  return outcome;
}

}  // namespace enginery
