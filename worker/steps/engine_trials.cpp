#include "worker/steps/engine_trials.h"

#include "engine/base/clock.h"

namespace enginery {
namespace {

using std::chrono::steady_clock;

// Runs of a small engine take microseconds: they are said this often, not each.
constexpr std::chrono::seconds kSayEvery{5};

// Errors that say nothing about a tactic: of the machine or of the data.
bool is_of_tactic(ErrorCode code) {
  return code != ErrorCode::out_of_memory && code != ErrorCode::invalid_argument &&
         code != ErrorCode::unavailable && code != ErrorCode::cancelled;
}

}  // namespace

EngineTrials::EngineTrials(const StepContext& step, const DeviceInfo& info)
    : step_(step), device_(device_key(info)) {}

EngineTrials::~EngineTrials() {
  if (running_) step_.tuning.trial({device_, "", "", true});
}

EngineWatch EngineTrials::watch() {
  EngineWatch out;
  out.steps.one_by_one = step_.tuning.one_by_one;
  out.steps.in_flight = [this](const PlanStep& s, bool over) {
    step_.tuning.trial({device_, s.problem.key(), selected_key(s), over});
  };
  out.steps.failed = [this](const PlanStep& s, FailureKind stage, const Error& error) {
    add(s, stage, error);
  };
  out.run = [this](bool over) { run(over); };
  return out;
}

void EngineTrials::run(bool over) {
  const auto now = steady_clock::now();
  if (running_ && now - said_ < kSayEvery) return;
  if (running_) step_.tuning.trial({device_, "", "", true});
  running_ = !over;
  if (running_) step_.tuning.trial({device_, "", "", false});
  said_ = now;
}

// Of tactics that were prepared side by side any one may have lost the device.
void EngineTrials::add(const PlanStep& step, FailureKind stage, const Error& error) {
  const bool anyone = error.code == ErrorCode::device_lost && stage == FailureKind::compile &&
                      !step_.tuning.one_by_one;
  if (anyone || !is_of_tactic(error.code)) return;
  Timing timing;
  timing.tactic = selected_key(step);
  timing.failure = "layer '" + step.name + "': " + error.message;
  timing.failure_kind = failure_kind(error, stage);
  const std::lock_guard lock(mutex_);
  failures_.push_back({step.problem.key(), std::move(timing)});
}

void EngineTrials::add_wrong(const std::string& problem, const std::string& tactic,
                             const std::string& reason, double error) {
  Timing timing;
  timing.tactic = tactic;
  timing.failure = reason;
  timing.failure_kind = FailureKind::wrong_result;
  timing.error = error;
  const std::lock_guard lock(mutex_);
  failures_.push_back({problem, std::move(timing)});
}

Result<bool> EngineTrials::store_failures() {
  std::vector<Failure> failures;
  {
    const std::lock_guard lock(mutex_);
    failures.swap(failures_);
  }
  if (!step_.tuning.timings) return false;
  for (Failure& failure : failures) {
    failure.timing.worker = step_.worker;
    failure.timing.unix_seconds = to_seconds(SystemClock().wall_time());
    TRY(const auto known, step_.tuning.timings->find(device_, failure.problem));
    failure.timing.attempts = failures_of(known, failure.timing.tactic) + 1;
    step_.hooks.log(failure.timing.tactic + " is rejected: " + failure.timing.failure);
    const Status stored = step_.tuning.timings->put(device_, failure.problem, failure.timing);
    if (!stored.ok() && stored.error().code == ErrorCode::not_found) return false;
    CHECK_OK(stored);
  }
  return !failures.empty();
}

}  // namespace enginery
