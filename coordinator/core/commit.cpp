// How attempts end: the commit of a result, the retry rules by kind, quarantine, and the
// coordinator's own signature.
#include <algorithm>

#include "coordinator/core/state.h"

namespace enginery {
namespace {

constexpr size_t kMaxOutputs = 64;
constexpr size_t kMaxFactBytes = 64 * 1024;
constexpr size_t kQuarantineAfterWorkers = 3;  // distinct ones

// How often a step may end that way before it fails, and how long it rests first.
struct RetryRule {
  OutcomeKind kind;
  int attempts;
  Nanoseconds rest;
};
const RetryRule& rule_of(OutcomeKind kind) {
  using std::chrono::milliseconds;
  static const RetryRule rules[] = {
      {OutcomeKind::worker_lost, 60,
       milliseconds(0)},  // one worker may be killed often; three workers may not
      {OutcomeKind::preempted, 100, milliseconds(100)},
      {OutcomeKind::cancelled, 100, milliseconds(100)},  // it stopped by itself: as preempted
      {OutcomeKind::back_pressure, 100, milliseconds(1000)},
      {OutcomeKind::out_of_memory, 2, milliseconds(500)},
      {OutcomeKind::storage, 6, milliseconds(2000)},
      {OutcomeKind::internal, 3, milliseconds(200)},
  };
  for (const RetryRule& rule : rules)
    if (rule.kind == kind) return rule;
  ENSURE(false, "an outcome without a retry rule");
}

bool is_output_name(std::string_view name) {
  return !name.empty() && name.size() <= 100 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
  });
}

const char* needed_output(const StepRow& step) {
  if (step.kind == StepKind::tune) return "choices";
  if (step.kind == StepKind::assemble) return step.provisional ? "unsigned" : "content";
  return step.kind == StepKind::profile ? "unsigned" : nullptr;
}

// What is wrong with a worker's report; "" when nothing is.
std::string problem_of(const StepRow& step, const Outcome& outcome,
                       const std::vector<Digest>& missing) {
  if (outcome.outputs.size() > kMaxOutputs) return "too many outputs";
  size_t fact_bytes = 0;
  for (const NamedText& fact : outcome.facts) fact_bytes += fact.name.size() + fact.value.size();
  if (fact_bytes > kMaxFactBytes) return "too long facts";
  std::set<std::string_view> names;
  for (const NamedBlob& output : outcome.outputs) {
    if (!is_output_name(output.name)) return "an output with a bad name";
    if (!names.insert(output.name).second) return "the output '" + output.name + "' twice";
    if (std::find(missing.begin(), missing.end(), output.digest) != missing.end())
      return "the output '" + output.name + "', whose blob " + output.digest.text() +
             " it did not upload";
  }
  const char* needed = needed_output(step);
  if (needed != nullptr && !names.count(needed)) return std::string("no output '") + needed + "'";
  return "";
}

}  // namespace

// Closes the lease. What becomes of the step is the caller's business.
void CoreState::end_attempt(LiveStep& step, OutcomeKind kind, const std::string& message) {
  if (!step.row.attempts.empty() && !step.row.attempts.back().outcome) {
    AttemptRow& attempt = step.row.attempts.back();
    attempt.ended_ns = now.wall.count();
    attempt.outcome = kind;
    attempt.message = message.substr(0, 4000);
    save(SaveAttempt{attempt});
    record(step.row.job, "attempt_ended",
           {{"step", std::to_string(step.row.id)},
            {"worker", attempt.worker},
            {"outcome", to_string(kind)}});
  }
  drop_lease(step);
}

void CoreState::succeeded(LiveStep& step, const Outcome& outcome,
                          const std::vector<Digest>& missing) {
  if (const std::string problem = problem_of(step.row, outcome, missing); !problem.empty()) {
    const Fault fault{ErrorCode::internal, "worker " + step.row.worker + " reported " + problem};
    end_attempt(step, OutcomeKind::internal, fault.message);
    return retry_or_give_up(step, OutcomeKind::internal, fault);
  }
  end_attempt(step, OutcomeKind::succeeded, "");
  StepResult result;
  result.outputs = outcome.outputs;
  result.metrics = outcome.metrics;
  result.facts = outcome.facts;
  commit(step, std::move(result));
}

void CoreState::commit(LiveStep& step, StepResult result) {
  StepRow& row = step.row;
  dequeue(step);
  result.generation = row.generation;
  row.state = result.success ? StepState::done : StepState::failed;
  row.fault = result.fault;
  ++row.commits;
  in_flight.erase(row.key);
  save(CommitResult{row.key, row.id, row.epoch, result});
  save(SaveStep{row});
  record(row.job, "committed",
         {{"step", std::to_string(row.id)}, {"epoch", std::to_string(row.epoch)}});
  for (const Waiter& waiter : std::exchange(step.waiters, {})) {
    LiveJob& job = jobs.at(waiter.job);
    const StepUse use{row.kind, row.key, row.generation, row.id,
                      row.job == waiter.job ? Source::built : Source::joined};
    job.targets[waiter.target].step = 0;
    use_result(job, waiter.target, use, result);
  }
}

void CoreState::retry_or_give_up(LiveStep& step, OutcomeKind kind, const Fault& fault) {
  int same = 0;
  std::set<std::string_view> lost;
  for (const AttemptRow& attempt : step.row.attempts) {
    same += attempt.outcome == kind;
    if (attempt.outcome == OutcomeKind::worker_lost) lost.insert(attempt.worker);
  }
  const RetryRule& rule = rule_of(kind);
  if (kind == OutcomeKind::worker_lost && lost.size() >= kQuarantineAfterWorkers)
    return give_up(step, StepState::quarantined,
                   {ErrorCode::internal, "step " + std::string(to_string(step.row.kind)) +
                                             " is quarantined: " + std::to_string(lost.size()) +
                                             " workers died while they ran it"});
  if (same >= rule.attempts) return give_up(step, StepState::failed, fault);
  if (step.waiters.empty())
    return give_up(step, StepState::cancelled, {ErrorCode::cancelled, "nobody waits for it"});
  step.row.state = StepState::queued;
  save(SaveStep{step.row});
  for (const Waiter& waiter : step.waiters) touch(jobs.at(waiter.job));
  if (rule.rest > Nanoseconds(0)) {
    step.not_before = now.monotonic + rule.rest * same;
    arm(step.not_before, TimerKind::back_off, step.row.id);
  }
  enqueue(step);
}

// The end without a result: nothing is kept as an answer for later jobs.
void CoreState::give_up(LiveStep& step, StepState state, const Fault& fault) {
  dequeue(step);
  step.row.state = state;
  step.row.fault = fault;
  in_flight.erase(step.row.key);
  save(SaveStep{step.row});
  record(step.row.job, "gave_up",
         {{"step", std::to_string(step.row.id)}, {"message", fault.message}});
  for (const Waiter& waiter : std::exchange(step.waiters, {})) {
    LiveJob& job = jobs.at(waiter.job);
    job.targets[waiter.target].step = 0;
    fail_target(job, waiter.target, fault, TargetState::failed);
  }
}

void CoreState::cancel_step(LiveStep& step) {
  if (is_end(step.row.state)) return;
  const std::string holder = step.row.worker;
  end_attempt(step, OutcomeKind::cancelled, "nobody wants the step any longer");
  give_up(step, StepState::cancelled, {ErrorCode::cancelled, "cancelled"});
  const auto worker = worker_by_name.find(holder);
  if (worker != worker_by_name.end()) release(workers[worker->second]);
}

// The coordinator alone holds the signing key: this step has no lease, its epoch counts the
// askings.
void CoreState::ask_for_signature(LiveStep& step) {
  if (step.signing || step.not_before > now.monotonic) return;
  const Waiter& waiter = *step.waiters.begin();
  const LiveTarget& target = jobs.at(waiter.job).targets[waiter.target];
  for (const NamedBlob& blob : target.outputs)
    if (blob.name == "unsigned") step.unsigned_engine = blob;
  end_attempt(step, OutcomeKind::internal, "the coordinator restarted");  // where one was open
  step.signing = true;
  ++step.row.epoch;
  step.row.attempts.push_back(
      {step.row.id, step.row.epoch, "coordinator", 0, now.wall.count(), 0, std::nullopt, ""});
  save(SaveStep{step.row});
  save(SaveAttempt{step.row.attempts.back()});
  out->signing.push_back({step.row.id, step.row.epoch, step.unsigned_engine.digest});
}

void CoreState::signed_answer(const SignAnswer& answer) {
  const auto found = steps.find(answer.step);
  if (found == steps.end()) return;
  LiveStep& step = found->second;
  if (step.row.state != StepState::committing || step.row.epoch != answer.epoch || !step.signing)
    return;
  step.signing = false;
  if (answer.engine) {
    end_attempt(step, OutcomeKind::succeeded, "");
    const Waiter waiter = *step.waiters.begin();
    const LiveTarget& target = jobs.at(waiter.job).targets[waiter.target];
    StepResult result;
    result.outputs = {*answer.engine};
    result.metrics = target.metrics;
    result.facts = target.facts;
    for (const NamedBlob& blob : target.outputs)
      if (blob.name == "content") result.outputs.push_back(blob);
    return commit(step, std::move(result));
  }
  end_attempt(step, OutcomeKind::storage, answer.fault.message);
  const bool gone =
      answer.fault.code == ErrorCode::not_found || answer.fault.code == ErrorCode::corrupt_data;
  int same = 0;
  for (const AttemptRow& attempt : step.row.attempts)
    same += attempt.outcome == OutcomeKind::storage;
  if (!gone && same < rule_of(OutcomeKind::storage).attempts) {
    step.not_before = now.monotonic + rule_of(OutcomeKind::storage).rest;
    return arm(step.not_before, TimerKind::sign_again, step.row.id);
  }
  const std::set<Waiter> waiters = std::exchange(step.waiters, {});
  give_up(step, StepState::failed, answer.fault);
  for (const Waiter& waiter : waiters) {
    LiveJob& job = jobs.at(waiter.job);
    if (gone)
      restart_target(job, waiter.target);
    else
      fail_target(job, waiter.target, answer.fault, TargetState::failed);
  }
}

}  // namespace enginery
