// Leases and how they end: epochs, lost workers, retries, back-off, quarantine.
#include <chrono>

#include "tests/coordinator/core/core_harness.h"

namespace enginery {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Core, AStaleEpochNeverCommits) {
  CoreHarness farm;
  const JobView job = farm.submit(make_submit("m", {"x"}));
  const RunStep first = run_of(farm.sync("slow", "x", Idle{}));
  farm.sync("slow", "x", Running{first.ref, {}});
  farm.pass(seconds(20));  // silent: seen as lost
  const RunStep second = run_of(farm.sync("other", "x", Idle{}));
  EXPECT_EQ(second.ref.step, first.ref.step);
  EXPECT_GT(second.ref.epoch, first.ref.epoch);
  // The slow one comes back with its result: refused, but heard.
  const auto reply = farm.sync("slow", "x", Finished{first.ref, outcome_of(farm.store, first)});
  EXPECT_FALSE(reply);
  farm.pass(milliseconds(10));
  EXPECT_TRUE(told<BeIdle>(farm.heard("slow")));
  EXPECT_EQ(step_of(farm.show(job.id), 0).commits, 0u);
  farm.finish("other", "x", second);
  const JobView view = farm.show(job.id);
  EXPECT_EQ(step_of(view, 0).commits, 1u);
  ASSERT_EQ(step_of(view, 0).attempts.size(), 2u);
  EXPECT_EQ(step_of(view, 0).attempts[0].outcome, "partitioned");
}

// The same process of the same worker holds the step again: nothing but the epoch tells the results
// of the two leases apart.
TEST(Core, AStaleEpochOfTheHolderItselfNeverCommits) {
  CoreHarness farm;
  const JobView job = farm.submit(make_submit("m", {"x"}));
  const RunStep first = run_of(farm.sync("w", "x", Idle{}));
  farm.sync("w", "x", Running{first.ref, {}});
  farm.pass(seconds(20));  // silent: seen as lost
  const RunStep second = run_of(farm.sync("w", "x", Idle{}));
  EXPECT_EQ(second.ref.step, first.ref.step);
  EXPECT_EQ(second.ref.epoch, first.ref.epoch + 1);
  const auto reply = farm.sync("w", "x", Finished{first.ref, outcome_of(farm.store, first)});
  EXPECT_EQ(step_of(farm.show(job.id), 0).commits, 0u);
  EXPECT_EQ(run_of(reply).ref, second.ref);  // it still has to run the second lease
  farm.finish("w", "x", second);
  EXPECT_EQ(step_of(farm.show(job.id), 0).commits, 1u);
}

TEST(Core, AStaleWorkerIsToldToStop) {
  CoreHarness farm;
  farm.submit(make_submit("m", {"x"}));
  const RunStep run = run_of(farm.sync("w", "x", Idle{}));
  farm.sync("w", "x", Running{run.ref, {}});
  farm.pass(seconds(20));
  const auto reply = farm.sync("w", "x", Running{run.ref, {}});
  EXPECT_TRUE(told<Cancel>(reply));
  // Told once at once; the next question is held, so that the two do not talk in circles.
  EXPECT_FALSE(farm.sync("w", "x", Running{run.ref, {}}));
}

TEST(Core, RunningWorkersReattachAfterARestart) {
  CoreHarness farm;
  const JobView job = farm.submit(make_submit("m", {"x"}));
  const RunStep run = run_of(farm.sync("w", "x", Idle{}));
  farm.sync("w", "x", Running{run.ref, {}});
  farm.restart();
  farm.pass(seconds(8));
  EXPECT_FALSE(farm.sync("w", "x", Running{run.ref, {}}));  // held: go on
  farm.finish("w", "x", run);
  const JobView view = farm.show(job.id);
  EXPECT_EQ(step_of(view, 0).attempts.size(), 1u);
  EXPECT_EQ(step_of(view, 0).commits, 1u);
}

TEST(Core, ALostAnswerIsGivenAgainWithTheSameEpoch) {
  CoreHarness farm;
  farm.submit(make_submit("m", {"x"}));
  const RunStep first = run_of(farm.sync("w", "x", Idle{}));
  const RunStep again = run_of(farm.sync("w", "x", Idle{}));
  EXPECT_EQ(first.ref, again.ref);
}

TEST(Core, AnOvertakenSyncIsIgnored) {
  CoreHarness farm;
  const JobView job = farm.submit(make_submit("m", {"x"}));
  SyncRequest sync;
  sync.worker = "w";
  sync.incarnation = 3;
  sync.sequence = 9;
  sync.sku = "x";
  sync.toolchain = "tool 1";
  sync.device = "d";
  const RunStep run = run_of(body_of<SyncReply>(farm.ask(sync, "w")));
  sync.sequence = 10;
  sync.state = Running{run.ref, {}};
  farm.ask(sync, "w");
  sync.sequence = 8;  // said idle before it heard of the step
  sync.state = Idle{};
  EXPECT_FALSE(farm.ask(sync, "w"));
  const StepView step = step_of(farm.show(job.id), 0);
  EXPECT_EQ(step.state, StepState::running);
  ASSERT_EQ(step.attempts.size(), 1u);
  EXPECT_EQ(step.attempts[0].outcome, "");  // it has not ended
  sync.sequence = 11;
  sync.incarnation = 2;  // an older process of the same worker
  EXPECT_TRUE(told<Exit>(body_of<SyncReply>(farm.ask(sync, "w"))));
  EXPECT_EQ(step_of(farm.show(job.id), 0).state, StepState::running);
}

TEST(Core, QuarantinesWhatKillsThreeWorkers) {
  CoreHarness farm;
  const JobView job = farm.submit(make_submit("m", {"x"}));
  for (const char* worker : {"a", "b", "c"}) {
    const RunStep run = run_of(farm.sync(worker, "x", Idle{}));
    farm.sync(worker, "x", Running{run.ref, {}});
    farm.pass(seconds(20));
  }
  const JobView view = farm.show(job.id);
  EXPECT_EQ(view.state, JobState::failed);
  EXPECT_EQ(step_of(view, 0).state, StepState::quarantined);
  EXPECT_NE(fault_of(view).message.find("quarantined"), std::string::npos);
}

TEST(Core, ADeterministicFailureIsNeverTriedAgain) {
  CoreHarness farm;
  const JobView job = farm.submit(make_submit("m", {"x"}));
  const RunStep run = run_of(farm.sync("w", "x", Idle{}));
  farm.sync(
      "w", "x",
      Finished{run.ref,
               {OutcomeKind::failed, {ErrorCode::unsupported, "no such operator"}, {}, {}, {}}});
  EXPECT_EQ(fault_of(farm.show(job.id)).message, "no such operator");
  const JobView again = farm.submit(make_submit("m", {"x"}));
  const JobView view = farm.show(again.id);
  EXPECT_EQ(view.state, JobState::failed);  // the negative result answers
  EXPECT_EQ(fault_of(view).code, ErrorCode::unsupported);
}

TEST(Core, AnInternalFailureIsTriedThreeTimes) {
  CoreHarness farm;
  const JobView job = farm.submit(make_submit("m", {"x"}));
  for (int i = 0; i < 3; ++i) {
    std::optional<SyncReply> reply = farm.sync("w", "x", Idle{});
    if (!reply) {
      farm.pass(seconds(2));
      reply = farm.heard("w");
    }
    const RunStep run = run_of(reply);
    farm.sync(
        "w", "x",
        Finished{run.ref, {OutcomeKind::internal, {ErrorCode::internal, "broke"}, {}, {}, {}}});
  }
  EXPECT_EQ(farm.show(job.id).state, JobState::failed);
  EXPECT_EQ(step_of(farm.show(job.id), 0).attempts.size(), 3u);
  // Not kept as an answer: the next submit tries again.
  EXPECT_FALSE(is_end(farm.show(farm.submit(make_submit("m", {"x"})).id).state));
}

TEST(Core, RefusesAReportWithoutItsBlobs) {
  CoreHarness farm;
  const JobView job = farm.submit(make_submit("m", {"x"}));
  const RunStep validate = run_of(farm.sync("w", "x", Idle{}));
  const RunStep tune = run_of(farm.finish("w", "x", validate));
  Outcome forged;
  forged.outputs = {{"choices", sha256("never uploaded"), 3}};
  farm.sync("w", "x", Finished{tune.ref, forged});
  const JobView view = farm.show(job.id);
  EXPECT_EQ(step_of(view, 1).commits, 0u);
  ASSERT_EQ(step_of(view, 1).attempts.size(), 1u);
  EXPECT_NE(step_of(view, 1).attempts[0].message.find("did not upload"), std::string::npos);
}

TEST(Core, RefusesAReportWithoutTheOutputThatTheStepLeaves) {
  CoreHarness farm;
  const JobView job = farm.submit(make_submit("m", {"x"}));
  const RunStep validate = run_of(farm.sync("w", "x", Idle{}));
  const RunStep tune = run_of(farm.finish("w", "x", validate));
  farm.sync("w", "x", Finished{tune.ref, {}});
  const StepView step = step_of(farm.show(job.id), 1);
  EXPECT_EQ(step.commits, 0u);
  ASSERT_EQ(step.attempts.size(), 1u);
  EXPECT_EQ(step.attempts[0].message, "worker w reported no output 'choices'");
}

TEST(Core, RefusesAResultForAnothersLease) {
  CoreHarness farm;
  const JobView job = farm.submit(make_submit("m", {"x"}));
  const RunStep run = run_of(farm.sync("honest", "x", Idle{}));
  farm.sync("thief", "x", Finished{run.ref, outcome_of(farm.store, run)});
  EXPECT_EQ(step_of(farm.show(job.id), 0).commits, 0u);
}

Outcome ended(OutcomeKind kind) {
  return {kind, {ErrorCode::unavailable, "not now"}, {}, {}, {}};
}

TEST(Core, BackPressureBacksOffBeforeTheNextLease) {
  CoreHarness farm;
  const JobView job = farm.submit(make_submit("m", {"x"}));
  const RunStep run = run_of(farm.sync("w", "x", Idle{}));
  farm.sync("w", "x", Finished{run.ref, ended(OutcomeKind::back_pressure)});
  const auto lease = [&] { return step_of(farm.show(job.id), 0).epoch; };
  EXPECT_EQ(target_of(farm.show(job.id)).note, "validate backs off after a failed attempt");
  farm.sync("w", "x", Idle{});
  farm.pass(milliseconds(900));
  EXPECT_EQ(lease(), 1u);  // a second has to pass
  farm.pass(milliseconds(200));
  EXPECT_EQ(lease(), 2u);
  EXPECT_EQ(run_of(farm.heard("w")).ref.epoch, 2u);
}

TEST(Core, TheBackOffGrowsWithTheAttemptsThatEndedSo) {
  CoreHarness farm;
  const JobView job = farm.submit(make_submit("m", {"x"}));
  std::optional<SyncReply> reply = farm.sync("w", "x", Idle{});
  for (uint64_t epoch = 1; epoch <= 3; ++epoch) {
    farm.sync("w", "x", Finished{run_of(reply).ref, ended(OutcomeKind::storage)});
    farm.sync("w", "x", Idle{});
    farm.pass(seconds(2 * static_cast<int>(epoch)) - milliseconds(100));
    EXPECT_EQ(step_of(farm.show(job.id), 0).epoch, epoch);
    farm.sync("w", "x", Idle{});
    farm.pass(milliseconds(200));
    EXPECT_EQ(step_of(farm.show(job.id), 0).epoch, epoch + 1);
    reply = farm.heard("w");
  }
}

TEST(Core, AnIdleWorkerThatForgotItsStepEndsTheAttempt) {
  CoreHarness farm;
  const JobView job = farm.submit(make_submit("m", {"x"}));
  const RunStep run = run_of(farm.sync("w", "x", Idle{}));
  farm.sync("w", "x", Running{run.ref, {}});
  farm.sync("w", "x", Idle{});
  const StepView step = step_of(farm.show(job.id), 0);
  EXPECT_EQ(step.state, StepState::queued);
  ASSERT_EQ(step.attempts.size(), 1u);
  EXPECT_EQ(step.attempts[0].message, "the worker forgot the step");
}

TEST(Core, NoProgressEndsTheAttempt) {
  CoreHarness farm;
  const JobView job = farm.submit(make_submit("m", {"x"}));
  const RunStep run = run_of(farm.sync("w", "x", Idle{}));
  for (int minute = 0; minute <= 29; ++minute) {
    farm.sync("w", "x", Running{run.ref, {"importing", 1, 2, 0}});
    for (int i = 0; i < 6; ++i) {
      farm.pass(seconds(10));
      farm.sync("w", "x", Running{run.ref, {"importing", 1, 2, 0}});
    }
  }
  EXPECT_EQ(step_of(farm.show(job.id), 0).state, StepState::running);
  farm.pass(seconds(10));
  farm.sync("w", "x", Running{run.ref, {"importing", 1, 2, 0}});
  const StepView step = step_of(farm.show(job.id), 0);
  EXPECT_EQ(step.state, StepState::queued);
  ASSERT_EQ(step.attempts.size(), 1u);
  EXPECT_EQ(step.attempts[0].message, "no progress in phase 'importing'");
}

TEST(Core, ARestartedWorkerLosesItsLease) {
  CoreHarness farm;
  const JobView job = farm.submit(make_submit("m", {"x"}));
  const RunStep run = run_of(farm.sync("w", "x", Idle{}));
  farm.sync("w", "x", Running{run.ref, {}});
  const RunStep again = run_of(farm.sync("w", "x", Idle{}, "", 2));
  EXPECT_EQ(again.ref.epoch, run.ref.epoch + 1);
  const StepView step = step_of(farm.show(job.id), 0);
  ASSERT_EQ(step.attempts.size(), 2u);
  EXPECT_EQ(step.attempts[0].outcome, "worker_lost");
  EXPECT_EQ(step.attempts[0].message, "the worker started again");
}

}  // namespace
}  // namespace enginery
