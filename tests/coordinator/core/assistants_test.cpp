// Workers that measure for a tuning which another one leads.
#include "tests/coordinator/core/core_harness.h"
#include "tests/coordinator/core/queue_fixture.h"

namespace enginery {
namespace {

using std::chrono::seconds;

CoreOptions with_early_assistants() {
  CoreOptions options;
  options.early_assistants = 3;
  return options;
}

struct AssistantsTest : testing::Test {
  CoreHarness farm{with_early_assistants()};
  std::string job;
  RunStep lead;                                             // the tuning, which worker "a" runs
  std::map<std::string, std::optional<SyncReply>> at_once;  // what the others heard when they came

  // "a" has validated and leads the tuning of `tuning_workers`; the others are idle.
  void begin(const std::vector<std::string>& others, uint32_t tuning_workers = 0) {
    SubmitRequest request = make_submit("m", {"x"});
    request.tuning_workers = tuning_workers;
    farm.sync("a", "x", Idle{});
    job = farm.submit(request).id;
    lead = run_of(farm.finish("a", "x", run_of(farm.heard("a"))));
    EXPECT_EQ(lead.kind, "tune");
    farm.sync("a", "x", Running{lead.ref, {"tuning", 0, 20}});
    for (const std::string& other : others) come(other);
  }
  void come(const std::string& worker, const std::string& device = "") {
    at_once[worker] = farm.sync(worker, "x", Idle{}, device);
  }
  // What the worker was told, when it came or since.
  std::optional<SyncReply> heard(const std::string& worker) {
    if (const auto early = at_once.extract(worker); early && early.mapped()) return early.mapped();
    return farm.heard(worker);
  }
  ProblemTaken take(const std::string& worker, const RunStep& run, const std::string& problem,
                    uint32_t left = 20) {
    return body_of<ProblemTaken>(
        farm.ask(TakeProblem{worker, 1, run.ref, sha256(problem), left}, worker + " asks"));
  }
  // What the worker was told to run; fails the test when it was not.
  RunStep assistant_of(const std::string& worker) {
    const RunStep run = run_of(heard(worker));
    farm.sync(worker, "x", Running{run.ref, {}});
    return run;
  }
  std::string why() {
    const ExplainReply reply = body_of<ExplainReply>(farm.ask(ExplainJob{job}));
    return reply.targets.empty() ? "" : reply.targets[0].reason;
  }
  Finished done(const RunStep& run) { return {run.ref, {OutcomeKind::succeeded, {}, {}, {}, {}}}; }
};

TEST_F(AssistantsTest, IdleWorkersBeginBesideTheLeader) {
  begin({"b", "c"});
  const ProblemTaken first = take("a", lead, "p1");
  EXPECT_TRUE(first.taken);
  EXPECT_EQ(first.sharers, 3u);
  const RunStep b = assistant_of("b"), c = assistant_of("c");
  EXPECT_EQ(lead.assistant, 0u);
  EXPECT_EQ(b.assistant, 1u);
  EXPECT_EQ(c.assistant, 2u);
  EXPECT_EQ(b.kind, "tune");
  EXPECT_EQ(b.key, lead.key);
  EXPECT_EQ(b.model, lead.model);
  EXPECT_NE(b.ref.step, lead.ref.step);
}

TEST_F(AssistantsTest, EachProblemIsOneWorkersUntilItTakesTheNext) {
  begin({"b"});
  EXPECT_TRUE(take("a", lead, "p1").taken);
  const RunStep b = assistant_of("b");
  EXPECT_FALSE(take("b", b, "p1").taken);
  EXPECT_TRUE(take("b", b, "p2").taken);
  EXPECT_TRUE(take("b", b, "p2").taken) << "a repetition";
  EXPECT_FALSE(take("a", lead, "p2").taken);
  EXPECT_TRUE(take("a", lead, "p3").taken);
  EXPECT_TRUE(take("b", b, "p1").taken) << "it was put back";
}

TEST_F(AssistantsTest, NobodyTakesAProblemWithoutTheLease) {
  begin({"b"});
  EXPECT_TRUE(take("a", lead, "p1").taken);
  EXPECT_FALSE(take("b", lead, "p2").taken) << "of another worker";
  RunStep stale = lead;
  --stale.ref.epoch;
  EXPECT_FALSE(take("a", stale, "p2").taken);
  EXPECT_FALSE(take("nobody", lead, "p2").taken);
  stale.ref.step = 4711;
  EXPECT_FALSE(take("a", stale, "p2").taken);
}

TEST_F(AssistantsTest, MoreJoinOnlyOnceTheLeaderLacksEnoughForThem) {
  begin({"b", "c", "d", "e", "f"});
  for (const char* early : {"b", "c", "d"}) assistant_of(early);
  EXPECT_FALSE(heard("e"));
  EXPECT_EQ(take("a", lead, "p1", 11).sharers, 5u) << "ten are left";
  EXPECT_TRUE(heard("e"));
  EXPECT_FALSE(heard("f"));
}

TEST_F(AssistantsTest, FewProblemsAreNotShared) {
  begin({});
  EXPECT_EQ(take("a", lead, "p1", 3).sharers, 1u);
  come("b");
  EXPECT_FALSE(heard("b"));
}

// Only what follows from timings is shared: no other step has assistants.
TEST_F(AssistantsTest, AProfileIsNotShared) {
  begin({});
  RunStep next = run_of(farm.finish("a", "x", lead));
  while (next.kind != "profile") next = run_of(farm.finish("a", "x", next));
  farm.sync("a", "x", Running{next.ref, {}});
  come("b");
  EXPECT_FALSE(heard("b"));
}

TEST_F(AssistantsTest, AJobLimitsHowManyShareItsTuning) {
  begin({"b", "c"}, 2);
  EXPECT_EQ(take("a", lead, "p1").sharers, 2u);
  EXPECT_TRUE(heard("b"));
  EXPECT_FALSE(heard("c"));
}

TEST_F(AssistantsTest, ATuningOfOneWorkerIsNotShared) {
  begin({"b"}, 1);
  EXPECT_EQ(take("a", lead, "p1").sharers, 1u);
  EXPECT_FALSE(heard("b"));
}

TEST_F(AssistantsTest, AWorkerOnTheSameDeviceDoesNotMeasureBesideTheLeader) {
  begin({});
  come("b", "a");
  EXPECT_EQ(take("a", lead, "p1").sharers, 1u);
  EXPECT_FALSE(heard("b"));
}

TEST_F(AssistantsTest, AnotherJobsStepComesFirst) {
  begin({});
  const std::string other = farm.submit(make_submit("m2", {"x"}, "net 2")).id;
  come("b");
  EXPECT_EQ(run_of(heard("b")).ref.job, other);
  EXPECT_EQ(take("a", lead, "p1").sharers, 1u);
}

TEST_F(AssistantsTest, AWorkerThatBecomesIdleJoinsLater) {
  begin({});
  EXPECT_EQ(take("a", lead, "p1").sharers, 1u);
  come("late");
  EXPECT_EQ(assistant_of("late").assistant, 1u);
  EXPECT_EQ(take("a", lead, "p2").sharers, 2u);
}

TEST_F(AssistantsTest, ALostAssistantLosesTheProblemInHandAndNothingElse) {
  begin({"b", "c"});
  EXPECT_TRUE(take("a", lead, "p1").taken);
  const RunStep b = assistant_of("b"), c = assistant_of("c");
  EXPECT_TRUE(take("b", b, "p2").taken);
  EXPECT_FALSE(take("c", c, "p2").taken);
  for (int i = 0; i < 4; ++i) {
    farm.pass(seconds(5));
    farm.sync("a", "x", Running{lead.ref, {"tuning", 1, 20}});
    farm.sync("c", "x", Running{c.ref, {}});
  }
  EXPECT_TRUE(take("c", c, "p2").taken);
  const JobView view = farm.show(job);
  EXPECT_EQ(view.state, JobState::running);
  EXPECT_EQ(target_of(view).fault, std::nullopt);
  // The leader's attempt goes on.
  farm.finish("a", "x", lead);
  EXPECT_EQ(step_of(farm.show(job), 1).state, StepState::done);
}

TEST_F(AssistantsTest, AnAssistantGoesOnWithoutItsLeader) {
  begin({"b"});
  EXPECT_TRUE(take("a", lead, "p1").taken);
  const RunStep b = assistant_of("b");
  EXPECT_TRUE(take("b", b, "p2").taken);
  farm.sync(
      "a", "x",
      Finished{lead.ref, {OutcomeKind::worker_lost, {ErrorCode::internal, "died"}, {}, {}, {}}});
  farm.pass(seconds(1));
  EXPECT_TRUE(take("b", b, "p1").taken) << "the leader's problem is free again";
  const RunStep again = run_of(farm.sync("b", "x", done(b)));
  EXPECT_EQ(again.ref.step, lead.ref.step);
  EXPECT_EQ(again.assistant, 0u);
  farm.sync("b", "x", Running{again.ref, {}});
  EXPECT_EQ(take("b", again, "p3", 18).sharers, 2u) << "there is something to read";
}

TEST_F(AssistantsTest, TheEndOfTheTuningEndsItsAssistants) {
  begin({"b"});
  EXPECT_TRUE(take("a", lead, "p1").taken);
  const RunStep b = assistant_of("b");
  farm.finish("a", "x", lead);
  const auto last = farm.heard("b");
  ASSERT_TRUE(told<Cancel>(last));
  EXPECT_EQ(std::get<Cancel>(last->desired).ref, b.ref);
}

TEST_F(AssistantsTest, CancellingTheJobEndsThemAll) {
  begin({"b"});
  EXPECT_TRUE(take("a", lead, "p1").taken);
  assistant_of("b");
  farm.ask(CancelJob{job});
  EXPECT_TRUE(told<Cancel>(farm.heard("a")));
  EXPECT_TRUE(told<Cancel>(farm.heard("b")));
}

TEST_F(AssistantsTest, AnAssistantsEndMovesNothingOn) {
  begin({"b"});
  EXPECT_TRUE(take("a", lead, "p1").taken);
  const RunStep b = assistant_of("b");
  EXPECT_TRUE(take("b", b, "p2").taken);
  farm.sync("b", "x", done(b));
  const JobView view = farm.show(job);
  EXPECT_EQ(view.state, JobState::running);
  EXPECT_EQ(step_of(view, 1).name, "tune");
  EXPECT_EQ(step_of(view, 1).state, StepState::running);
  EXPECT_EQ(step_of(view, 2).name, "tune assistant 1");
  EXPECT_EQ(step_of(view, 2).state, StepState::done);
  EXPECT_EQ(step_of(view, 2).commits, 0u);
  EXPECT_EQ(take("a", lead, "p3").sharers, 2u) << "there is something to read";
}

TEST_F(AssistantsTest, OneThatHasEndedIsNotAskedAgain) {
  begin({"b", "c"});
  EXPECT_TRUE(take("a", lead, "p1").taken);
  const RunStep b = assistant_of("b"), c = assistant_of("c");
  farm.sync("b", "x",
            Finished{b.ref, {OutcomeKind::internal, {ErrorCode::internal, "broke"}, {}, {}, {}}});
  come("b");
  EXPECT_FALSE(heard("b"));
  farm.sync("c", "x", done(c));
  come("c");
  EXPECT_FALSE(heard("c")) << "it took nothing";
  EXPECT_EQ(farm.show(job).state, JobState::running);
}

TEST_F(AssistantsTest, OutliveARestartOfTheCoordinator) {
  begin({"b"});
  EXPECT_TRUE(take("a", lead, "p1").taken);
  const RunStep b = assistant_of("b");
  farm.restart();
  farm.sync("a", "x", Running{lead.ref, {"tuning", 3, 20}});
  farm.sync("b", "x", Running{b.ref, {"tuning", 2, 20}});
  EXPECT_FALSE(heard("b")) << "it goes on";
  EXPECT_TRUE(take("b", b, "p5").taken);
  EXPECT_EQ(take("a", lead, "p4").sharers, 2u);
  EXPECT_FALSE(take("a", lead, "p5").taken);
  farm.finish("a", "x", lead);
  EXPECT_TRUE(told<Cancel>(farm.heard("b")));
}

TEST_F(AssistantsTest, OneThatDidNotHearIsToldAgain) {
  begin({"b"});
  EXPECT_TRUE(take("a", lead, "p1").taken);
  const RunStep b = run_of(heard("b"));
  farm.restart();
  EXPECT_EQ(run_of(farm.sync("b", "x", Idle{})), b);
}

TEST_F(AssistantsTest, ExplainSaysWhoMeasuresHowMuch) {
  begin({"b"});
  EXPECT_TRUE(take("a", lead, "p1").taken);
  const RunStep b = assistant_of("b");
  EXPECT_TRUE(take("b", b, "p2").taken);
  EXPECT_TRUE(take("b", b, "p3").taken);
  EXPECT_EQ(why(), "tune runs on 'a' (1 problems); it is shared by 'b' (2); 17 problems left");
  const ExplainReply reply = body_of<ExplainReply>(farm.ask(ExplainJob{job}));
  ASSERT_EQ(reply.targets[0].candidates.size(), 2u);
  EXPECT_EQ(reply.targets[0].candidates[1].reason, "measures for it: 2 problems so far");
}

// The history drops ended steps one by one.
TEST_F(QueueTest, AnEndedAssistantMayOutliveItsLeadersRow) {
  LoadedQueue rows;
  StepRow& row = rows.steps[9];
  row.id = 9;
  row.assists = 4;
  row.kind = StepKind::tune;
  row.state = StepState::done;
  queue.load(std::move(rows));
  EXPECT_EQ(queue.check(), "");
}

}  // namespace
}  // namespace enginery
