// A coordinator that dies and starts again at every point of a job's way, and a disk that refuses:
// the job ends as if nothing had happened, and no step runs twice that was committed.
#include "tests/coordinator/core/core_harness.h"

namespace enginery {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Walks job 1 to its end with one worker, which says again what was not answered; calls `before`
// with the number of each thing that happens. Returns how many steps were handed out.
template <typename Before>
size_t walk(CoreHarness& farm, Before before) {
  size_t runs = 0;
  int happened = 0;
  std::optional<RunStep> run;
  for (int round = 0; round < 200 && !is_end(farm.store.rows().jobs.at(1).state); ++round) {
    before(happened++);
    std::optional<SyncReply> reply =
        run ? farm.finish("w", "x", *run) : farm.sync("w", "x", Idle{});
    before(happened++);
    farm.sign();
    if (!reply) {
      farm.pass(milliseconds(20));
      reply = farm.heard("w");
    }
    if (!reply) continue;
    run.reset();
    if (!std::holds_alternative<RunStep>(reply->desired)) continue;
    run = std::get<RunStep>(reply->desired);
    ++runs;
    before(happened++);
    farm.sync("w", "x", Running{run->ref, {}});
  }
  return runs;
}

TEST(Recovery, AJobSurvivesARestartAtEveryPoint) {
  for (int point = 0; point < 22; ++point) {
    CoreHarness farm;
    const std::string job = farm.submit(make_submit("m", {"x"})).id;
    const size_t runs = walk(farm, [&](int happened) {
      if (happened == point) farm.restart();
    });
    const JobView end = farm.show(job);
    EXPECT_EQ(end.state, JobState::done) << "restart at " << point;
    for (const StepView& step : end.steps) EXPECT_EQ(step.commits, 1u) << step.name;
    EXPECT_LE(runs, 6u) << "restart at " << point;  // five steps, one of them perhaps told again
  }
}

TEST(Recovery, AJobSurvivesARestartAfterEachThing) {
  CoreHarness farm;
  const std::string job = farm.submit(make_submit("m", {"x"})).id;
  walk(farm, [&](int) { farm.restart(); });
  const JobView end = farm.show(job);
  EXPECT_EQ(end.state, JobState::done);
  EXPECT_EQ(target_of(end).source, Source::built);  // its own steps are not an earlier build's
  for (const StepView& step : end.steps) EXPECT_EQ(step.commits, 1u) << step.name;
}

TEST(Recovery, AFullDiskCostsTimeOnly) {
  for (int failures = 1; failures <= 3; ++failures) {
    CoreHarness farm;
    const std::string job = farm.submit(make_submit("m", {"x"})).id;
    walk(farm, [&](int happened) {
      if (happened % 5 == 0 && happened < 60) farm.store.fail_next(failures);
    });
    farm.store.fail_next(0);
    farm.pass(seconds(6));  // the longest pause between two tries
    walk(farm, [](int) {});
    const JobView end = farm.show(job);
    EXPECT_EQ(end.state, JobState::done) << failures;
    for (const StepView& step : end.steps) EXPECT_EQ(step.commits, 1u) << step.name;
  }
}

TEST(Recovery, ASubmitThatWasNotStoredIsRefusedAndCanBeRepeated) {
  CoreHarness farm;
  SubmitRequest request = make_submit("m", {"x"});
  farm.store.add_blob(request.model, 0, 0);
  request.wait_for_workers = true;
  farm.store.fail_next(1);
  const auto refused = farm.ask(request, "tester", RequestId{4, 4});
  EXPECT_EQ(body_of<ErrorReply>(refused).fault.code, ErrorCode::storage);
  EXPECT_TRUE(farm.store.rows().jobs.empty());
  const auto taken = farm.ask(request, "tester", RequestId{4, 4});
  EXPECT_EQ(body_of<JobReply>(taken).job.id, "j1");
}

TEST(Recovery, ASubmitThatWasStoredIsTheSameJobAfterARestart) {
  CoreHarness farm;
  SubmitRequest request = make_submit("m", {"x"});
  farm.store.add_blob(request.model, 0, 0);
  request.wait_for_workers = true;
  const RequestId id{4, 4};
  const std::string job = body_of<JobReply>(farm.ask(request, "tester", id)).job.id;
  farm.restart();
  EXPECT_EQ(body_of<JobReply>(farm.ask(request, "tester", id)).job.id, job);
  EXPECT_EQ(farm.store.rows().jobs.size(), 1u);
}

TEST(Recovery, AnAttemptThatASignatureWasCutOffInIsWrittenDown) {
  CoreHarness farm;
  const std::string job = farm.submit(make_submit("m", {"x"})).id;
  RunStep run = run_of(farm.sync("w", "x", Idle{}));
  while (run.kind != "profile" && !run.kind.empty()) run = run_of(farm.finish("w", "x", run));
  farm.finish("w", "x", run);
  farm.restart();  // the request to sign is gone
  farm.sign();
  const JobView end = farm.show(job);
  EXPECT_EQ(end.state, JobState::done);
  const StepView sign = step_of(end, 5);
  ASSERT_EQ(sign.attempts.size(), 2u);
  EXPECT_EQ(sign.attempts[0].message, "the coordinator restarted");
  EXPECT_EQ(sign.attempts[1].outcome, "succeeded");
}

TEST(Recovery, AWorkerThatIsNotHeardOfAgainLosesItsLease) {
  CoreHarness farm;
  const std::string job = farm.submit(make_submit("m", {"x"})).id;
  const RunStep run = run_of(farm.sync("w", "x", Idle{}));
  farm.sync("w", "x", Running{run.ref, {}});
  farm.restart();
  farm.pass(seconds(14));
  EXPECT_EQ(step_of(farm.show(job), 0).state, StepState::running);
  farm.pass(seconds(1));
  EXPECT_EQ(step_of(farm.show(job), 0).state, StepState::queued);
}

// What a newer program stored of a step that this one does not know.
TEST(Recovery, AStepOfAnUnknownKindIsShownAsUnknown) {
  CoreHarness farm;
  const std::string job = farm.submit(make_submit("m", {"x"})).id;
  walk(farm, [](int) {});
  TargetRow target = farm.store.rows().jobs.at(1).targets.at(0);
  ASSERT_FALSE(target.uses.empty());
  target.uses[0].kind = static_cast<StepKind>(77);
  ASSERT_TRUE(farm.store.begin().ok());
  ASSERT_TRUE(farm.store.apply(SaveTarget{1, 0, target}).ok());
  ASSERT_TRUE(farm.store.commit().ok());
  farm.restart();
  const JobView view = farm.show(job);
  EXPECT_EQ(view.state, JobState::done);
  EXPECT_EQ(step_of(view, 0).name, "unknown");
}

}  // namespace
}  // namespace enginery
