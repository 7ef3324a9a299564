// A job cancelled at each point of its way: what its targets, its steps and the worker become, and
// that nothing of another job is touched.
#include "tests/coordinator/core/core_harness.h"

namespace enginery {
namespace {

using std::chrono::seconds;

struct CancelTest : testing::Test {
  CoreHarness farm;
  std::string job = farm.submit(make_submit("m", {"x"})).id;

  JobView cancel(const std::string& id) { return body_of<JobReply>(farm.ask(CancelJob{id})).job; }
  JobView cancel() { return cancel(job); }
  // The next step of worker w, which goes on until it is given one of this kind.
  RunStep run_until(const std::string& kind) {
    RunStep run = run_of(farm.sync("w", "x", Idle{}));
    while (run.kind != kind && !run.kind.empty()) run = run_of(farm.finish("w", "x", run));
    return run;
  }
  StepView last_step() {
    const JobView view = farm.show(job);
    return step_of(view, view.steps.empty() ? 0 : view.steps.size() - 1);
  }
};

TEST_F(CancelTest, AQueuedStepIsNeverRun) {
  const JobView view = cancel();
  EXPECT_EQ(view.state, JobState::cancelled);
  EXPECT_EQ(fault_of(view).code, ErrorCode::cancelled);
  EXPECT_EQ(last_step().state, StepState::cancelled);
  EXPECT_FALSE(farm.sync("w", "x", Idle{}));
}

// The worker was given the step and has not said yet that it runs: it may never say so.
TEST_F(CancelTest, ALeasedStepIsStoppedWhenItsWorkerSaysThatItRuns) {
  const RunStep run = run_of(farm.sync("w", "x", Idle{}));
  cancel();
  EXPECT_EQ(last_step().state, StepState::cancelled);
  const auto reply = farm.sync("w", "x", Running{run.ref, {}});
  ASSERT_TRUE(told<Cancel>(reply));
  EXPECT_EQ(std::get<Cancel>(reply->desired).ref, run.ref);
}

TEST_F(CancelTest, ARunningStepIsStoppedAtOnce) {
  const RunStep run = run_of(farm.sync("w", "x", Idle{}));
  EXPECT_FALSE(farm.sync("w", "x", Running{run.ref, {}}));
  cancel();
  EXPECT_TRUE(told<Cancel>(farm.heard("w")));
  EXPECT_EQ(last_step().attempts.at(0).outcome, "cancelled");
}

TEST_F(CancelTest, TheResultOfACancelledStepIsNotKept) {
  const RunStep run = run_until("tune");
  farm.sync("w", "x", Running{run.ref, {}});
  cancel();
  farm.finish("w", "x", run);
  EXPECT_EQ(last_step().commits, 0u);
  const std::string again = farm.submit(make_submit("m", {"x"})).id;
  EXPECT_EQ(run_of(farm.sync("w", "x", Idle{})).kind, "tune");    // measured again
  EXPECT_EQ(step_of(farm.show(again), 0).source, Source::cache);  // the validation was kept
}

TEST_F(CancelTest, AStepThatBacksOffStaysCancelled) {
  const RunStep run = run_of(farm.sync("w", "x", Idle{}));
  farm.sync("w", "x", Finished{run.ref, {OutcomeKind::storage, {}, {}, {}, {}}});
  cancel();
  farm.sync("w", "x", Idle{});
  farm.pass(seconds(4));
  EXPECT_EQ(last_step().state, StepState::cancelled);
  EXPECT_EQ(last_step().epoch, 1u);
}

TEST_F(CancelTest, ASignatureThatComesTooLateIsDropped) {
  farm.finish("w", "x", run_until("profile"));
  EXPECT_EQ(last_step().state, StepState::committing);
  EXPECT_EQ(cancel().state, JobState::cancelled);
  farm.sign();
  const JobView end = farm.show(job);
  EXPECT_EQ(end.state, JobState::cancelled);
  EXPECT_FALSE(target_of(end).engine);
  EXPECT_EQ(last_step().commits, 0u);
}

TEST_F(CancelTest, AJobThatHasEndedStaysAsItIs) {
  const RunStep run = run_of(farm.sync("w", "x", Idle{}));
  farm.sync("w", "x", Finished{run.ref, {OutcomeKind::failed, {}, {}, {}, {}}});
  const JobView before = farm.show(job);
  const JobView after = cancel();
  EXPECT_EQ(after.state, JobState::failed);
  EXPECT_EQ(after.revision, before.revision);
  EXPECT_EQ(cancel().ended_ns, before.ended_ns);
}

TEST_F(CancelTest, CancelledTwiceIsCancelledOnce) {
  const JobView first = cancel();
  farm.pass(seconds(1));
  EXPECT_EQ(cancel(), first);
}

TEST_F(CancelTest, AStepThatAnotherJobMadeGoesOnForIt) {
  const std::string other = farm.submit(make_submit("m", {"x"})).id;
  const RunStep run = run_of(farm.sync("w", "x", Idle{}));
  farm.sync("w", "x", Running{run.ref, {}});
  cancel(other);
  EXPECT_FALSE(farm.heard("w"));
  EXPECT_EQ(farm.show(other).state, JobState::cancelled);
  EXPECT_EQ(last_step().state, StepState::running);
}

TEST_F(CancelTest, AStepOfTheCancelledJobGoesOnForWhoJoinedIt) {
  const std::string other = farm.submit(make_submit("m", {"x"})).id;
  const RunStep run = run_of(farm.sync("w", "x", Idle{}));
  farm.sync("w", "x", Running{run.ref, {}});
  cancel();
  EXPECT_FALSE(farm.heard("w"));
  EXPECT_EQ(run_of(farm.finish("w", "x", run)).ref.job, other);  // the next step is the other's
}

TEST_F(CancelTest, OnlyTheTargetsThatHaveNotEndedAreCancelled) {
  const std::string two = farm.submit(make_submit("m2", {"x", "y"}, "net 2")).id;
  cancel();
  RunStep run = run_of(farm.sync("w", "x", Idle{}));
  EXPECT_EQ(run.kind, "validate");
  run = run_of(farm.finish("w", "x", run));
  farm.sync("w", "x", Finished{run.ref, {OutcomeKind::failed, {}, {}, {}, {}}});
  const JobView view = cancel(two);
  EXPECT_EQ(target_of(view, 0).state, TargetState::failed);
  EXPECT_EQ(target_of(view, 1).state, TargetState::cancelled);
  EXPECT_EQ(view.state, JobState::cancelled);
}

TEST_F(CancelTest, ACancelledJobStaysCancelledAfterARestart) {
  run_until("tune");
  cancel();
  farm.restart();
  EXPECT_EQ(farm.show(job).state, JobState::cancelled);
  EXPECT_TRUE(farm.core().job_ids(false).empty());
}

}  // namespace
}  // namespace enginery
