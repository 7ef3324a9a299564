// The requests of clients at the core's door: which are its business, and what it says of names
// that it does not know.
#include <algorithm>

#include "tests/coordinator/core/core_harness.h"

namespace enginery {
namespace {

Fault refused(CoreHarness& farm, Body body) {
  return body_of<ErrorReply>(farm.ask(std::move(body))).fault;
}

TEST(Query, WhatIsNoRequestOfTheControlSocketIsUnsupported) {
  CoreHarness farm;
  const Body bodies[] = {std::monostate{}, Welcome{},     JobReply{},     ErrorReply{},
                         HasBlobs{},       PutBlob{},     GetBlob{},      AppendLog{},
                         ReadLog{},        GetTimings{},  PutTimings{},   SyncReply{},
                         Hello{},          FindEngines{}, WhyMiss{{"j1"}}};
  for (const Body& body : bodies)
    EXPECT_EQ(refused(farm, body).code, ErrorCode::unsupported) << body.index();
}

TEST(Query, EachVerbSaysThatItDoesNotKnowTheName) {
  CoreHarness farm;
  const std::pair<Body, std::string> table[] = {
      {ShowJob{"j9"}, "show: no job 'j9' (enginery jobs lists them)"},
      {CancelJob{"j9"}, "cancel: no job 'j9' (enginery jobs lists them)"},
      {ExplainJob{"j9"}, "explain: no job 'j9' (enginery jobs lists them)"},
      {WaitJob{"j9", 0, 1000, false}, "wait: no job 'j9' (enginery jobs lists them)"},
      {DrainWorker{"w9", false}, "drain: no worker 'w9' (enginery workers lists them)"},
  };
  for (const auto& [body, message] : table) {
    const Fault fault = refused(farm, body);
    EXPECT_EQ(fault.code, ErrorCode::not_found) << message;
    EXPECT_EQ(fault.message, message);
  }
}

// The answer has to fit a message, whatever the name was.
TEST(Query, ALongNameIsCutInTheAnswer) {
  CoreHarness farm;
  const std::string name(900'000, 'n');
  for (const Body& body : {Body(ShowJob{name}), Body(CancelJob{name}), Body(ExplainJob{name}),
                           Body(WaitJob{name, 0, 1000, false}), Body(DrainWorker{name, false})})
    EXPECT_LT(refused(farm, body).message.size(), 200u) << body.index();
}

TEST(Query, ABadSyncIsRefusedAndLeavesNoWorker) {
  CoreHarness farm;
  SyncRequest nameless;
  nameless.sku = "x";
  nameless.device = "d";
  const Fault fault = refused(farm, nameless);
  EXPECT_EQ(fault.code, ErrorCode::usage);
  EXPECT_EQ(fault.message, "sync: a worker needs a name of at most 200 bytes");
  EXPECT_TRUE(body_of<WorkerList>(farm.ask(ListWorkers{})).workers.empty());
}

TEST(Query, AShownJobHasItsStepsAndAWaitHasNot) {
  CoreHarness farm;
  const std::string job = farm.submit(make_submit("m", {"x"})).id;
  EXPECT_EQ(farm.show(job).steps.size(), 1u);
  const auto waited = farm.ask(WaitJob{job, 0, 0, false});
  EXPECT_TRUE(body_of<JobReply>(waited).job.steps.empty());
}

TEST(Query, AValidationThatTwoTargetsShareIsShownOnce) {
  CoreHarness farm;
  const std::string job = farm.submit(make_submit("m", {"x", "y"})).id;
  const JobView view = farm.show(job);
  ASSERT_EQ(view.steps.size(), 1u);
  EXPECT_EQ(step_of(view, 0).name, "validate");
  EXPECT_EQ(step_of(view, 0).sku, "");
}

TEST(Query, OnlyTheLatestAttemptsAreShownAndTheirMessagesCut) {
  CoreHarness farm;
  const std::string job = farm.submit(make_submit("m", {"x"})).id;
  const std::string endless(3000, 'e');
  std::optional<SyncReply> reply = farm.sync("w", "x", Idle{});
  for (int attempts = 0; attempts < 60; ++attempts) {
    if (!reply) {
      farm.pass(std::chrono::seconds(7));
      reply = farm.sync("w", "x", Idle{});
    }
    farm.sync("w", "x",
              Finished{run_of(reply).ref,
                       {OutcomeKind::preempted, {ErrorCode::cancelled, endless}, {}, {}, {}}});
    reply.reset();
  }
  const StepView step = step_of(farm.show(job), 0);
  ASSERT_EQ(step.attempts.size(), 50u);
  EXPECT_EQ(step.attempts.front().epoch, 11u);
  EXPECT_EQ(step.attempts.back().epoch, 60u);
  EXPECT_EQ(step.attempts.back().message.size(), 500u);
}

TEST(Query, ExplainHasOneSentenceForEachWorker) {
  CoreHarness farm;
  farm.sync("other", "y", Idle{});
  farm.sync("drained", "x", Idle{});
  body_of<Done>(farm.ask(DrainWorker{"drained", false}));
  const std::string job = farm.submit(make_submit("m", {"x"})).id;
  const RunStep validate = run_of(farm.heard("other"));
  farm.finish("other", "y", validate);
  const ExplainReply reply = body_of<ExplainReply>(farm.ask(ExplainJob{job}));
  ASSERT_EQ(reply.targets.size(), 1u);
  EXPECT_EQ(reply.targets[0].step, "tune");
  const std::vector<CandidateView> wanted = {{"drained", "is draining"},
                                             {"other", "has another SKU, 'y'"}};
  EXPECT_EQ(reply.targets[0].candidates, wanted);
}

TEST(Query, ExplainSaysOfAnEndedTargetHowItEnded) {
  CoreHarness farm;
  const std::string job = farm.submit(make_submit("m", {"x"})).id;
  farm.ask(CancelJob{job});
  const ExplainReply reply = body_of<ExplainReply>(farm.ask(ExplainJob{job}));
  ASSERT_EQ(reply.targets.size(), 1u);
  EXPECT_EQ(reply.targets[0].reason, "has ended: cancelled");
  EXPECT_TRUE(reply.targets[0].candidates.empty());
}

}  // namespace
}  // namespace enginery
