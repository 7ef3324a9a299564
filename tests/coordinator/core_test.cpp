#include "coordinator/core/core.h"

#include <chrono>

#include "tests/coordinator/core_harness.h"

namespace enginery {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Works off whatever the worker is given until it hears nothing; returns the kinds in order.
std::vector<std::string> work_off(CoreHarness& farm, const std::string& worker,
                                  const std::string& sku) {
  std::vector<std::string> kinds;
  std::optional<SyncReply> reply = farm.sync(worker, sku, Idle{});
  while (true) {
    if (!reply) reply = farm.heard(worker);
    if (!reply) {
      farm.pass(milliseconds(10));
      reply = farm.heard(worker);
    }
    if (!reply) return kinds;
    if (const auto* run = std::get_if<RunStep>(&reply->desired)) {
      kinds.push_back(run->kind);
      reply = farm.finish(worker, sku, *run);
      farm.sign();
    } else {
      reply = farm.sync(worker, sku, Idle{});
    }
  }
}

TEST(Core, WalksATargetThroughItsSteps) {
  CoreHarness farm;
  const JobView job = farm.submit(make_submit("m", {"x"}));
  EXPECT_FALSE(is_end(job.state));
  EXPECT_EQ(work_off(farm, "w", "x"),
            (std::vector<std::string>{"validate", "tune", "assemble", "verify", "profile"}));
  const JobView end = farm.show(job.id);
  EXPECT_EQ(end.state, JobState::done);
  EXPECT_EQ(end.targets[0].source, Source::built);
  for (const StepView& step : end.steps) EXPECT_EQ(step.commits, 1u) << step.name;
}

TEST(Core, AProvisionalTargetIsBuiltByAWorkerThatCompilesForIt) {
  CoreHarness farm;
  SubmitRequest request = make_submit("m", {"h200"});
  request.targets[0].provisional = true;
  request.targets[0].tune_key.clear();
  const JobView job = farm.submit(request);
  EXPECT_EQ(work_off(farm, "plain", "x"), std::vector<std::string>{"validate"});
  SyncRequest sync;
  sync.worker = "compiler";
  sync.incarnation = sync.sequence = 1;
  sync.sku = "y";
  sync.device = "d";
  sync.state = Idle{};
  sync.compiles_for = {"h200"};
  const auto body = farm.ask(sync, "compiler");
  ASSERT_TRUE(body);
  const RunStep run = std::get<RunStep>(std::get<SyncReply>(*body).desired);
  EXPECT_EQ(run.kind, "assemble");
  EXPECT_TRUE(run.provisional);
  sync.sequence = 2;
  sync.state = Finished{run.ref, outcome_of(farm.store, run)};
  farm.ask(sync, "compiler");
  farm.sign();
  const JobView end = farm.show(job.id);
  EXPECT_EQ(end.state, JobState::done);
  EXPECT_TRUE(end.targets[0].provisional);
}

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
  EXPECT_TRUE(std::holds_alternative<BeIdle>(farm.heard("slow")->desired));
  EXPECT_EQ(farm.show(job.id).steps[0].commits, 0u);
  farm.finish("other", "x", second);
  const JobView view = farm.show(job.id);
  EXPECT_EQ(view.steps[0].commits, 1u);
  ASSERT_EQ(view.steps[0].attempts.size(), 2u);
  EXPECT_EQ(view.steps[0].attempts[0].outcome, "worker_lost");
}

TEST(Core, AStaleWorkerIsToldToStop) {
  CoreHarness farm;
  farm.submit(make_submit("m", {"x"}));
  const RunStep run = run_of(farm.sync("w", "x", Idle{}));
  farm.sync("w", "x", Running{run.ref, {}});
  farm.pass(seconds(20));
  const auto reply = farm.sync("w", "x", Running{run.ref, {}});
  ASSERT_TRUE(reply);
  ASSERT_TRUE(std::holds_alternative<Cancel>(reply->desired));
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
  EXPECT_EQ(view.steps[0].attempts.size(), 1u);
  EXPECT_EQ(view.steps[0].commits, 1u);
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
  farm.submit(make_submit("m", {"x"}));
  SyncRequest sync;
  sync.worker = "w";
  sync.incarnation = 3;
  sync.sequence = 9;
  sync.sku = "x";
  sync.toolchain = "tool 1";
  sync.device = "d";
  const RunStep run = std::get<RunStep>(std::get<SyncReply>(*farm.ask(sync, "w")).desired);
  sync.sequence = 10;
  sync.state = Running{run.ref, {}};
  farm.ask(sync, "w");
  sync.sequence = 8;  // said idle before it heard of the step
  sync.state = Idle{};
  EXPECT_FALSE(farm.ask(sync, "w"));
  sync.sequence = 11;
  sync.incarnation = 2;  // an older process of the same worker
  EXPECT_TRUE(std::holds_alternative<Exit>(std::get<SyncReply>(*farm.ask(sync, "w")).desired));
}

TEST(Core, MeasuresAloneOnADevice) {
  CoreHarness farm;
  farm.submit(make_submit("m", {"x", "y"}));
  const RunStep validate = run_of(farm.sync("wx", "x", Idle{}, "host"));
  farm.sync("wy", "y", Idle{}, "host");
  const RunStep tune = run_of(farm.finish("wx", "x", validate, "host"));
  EXPECT_EQ(tune.kind, "tune");
  EXPECT_FALSE(farm.heard("wy"));  // its tuning waits: same host
  farm.finish("wx", "x", tune, "host");
  EXPECT_TRUE(farm.heard("wy") || farm.sync("wy", "y", Idle{}, "host"));
  const ExplainReply explained = std::get<ExplainReply>(*farm.ask(ExplainJob{"j1"}));
  for (const ExplainView& target : explained.targets) EXPECT_FALSE(target.reason.empty());
}

TEST(Core, ACancelledStepOccupiesItsDeviceUntilItStops) {
  CoreHarness farm;
  const JobView first = farm.submit(make_submit("m", {"x"}));
  const RunStep validate = run_of(farm.sync("wx", "x", Idle{}, "host"));
  const RunStep tune = run_of(farm.finish("wx", "x", validate, "host"));
  farm.sync("wx", "x", Running{tune.ref, {}}, "host");
  farm.ask(CancelJob{first.id});
  EXPECT_TRUE(std::holds_alternative<Cancel>(farm.heard("wx")->desired));
  farm.submit(make_submit("other", {"y"}, "other net"));
  EXPECT_FALSE(farm.sync("wy", "y", Idle{}, "host"));  // still measured on
  farm.sync("wx", "x", Running{tune.ref, {}}, "host");
  const auto freed = farm.sync("wx", "x", Idle{}, "host");
  EXPECT_TRUE(freed || farm.heard("wy"));
}

TEST(Core, CancelKeepsWhatAnotherJobWaitsFor) {
  CoreHarness farm;
  const JobView a = farm.submit(make_submit("m", {"x"}));
  const JobView b = farm.submit(make_submit("m", {"x"}));
  farm.ask(CancelJob{a.id});
  EXPECT_EQ(farm.show(a.id).state, JobState::cancelled);
  work_off(farm, "w", "x");
  EXPECT_EQ(farm.show(b.id).state, JobState::done);
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
  EXPECT_EQ(view.steps[0].state, StepState::quarantined);
  EXPECT_NE(view.targets[0].fault->message.find("quarantined"), std::string::npos);
}

TEST(Core, ADeterministicFailureIsNeverTriedAgain) {
  CoreHarness farm;
  const JobView job = farm.submit(make_submit("m", {"x"}));
  const RunStep run = run_of(farm.sync("w", "x", Idle{}));
  farm.sync(
      "w", "x",
      Finished{run.ref,
               {OutcomeKind::failed, {ErrorCode::unsupported, "no such operator"}, {}, {}, {}}});
  EXPECT_EQ(farm.show(job.id).targets[0].fault->message, "no such operator");
  const JobView again = farm.submit(make_submit("m", {"x"}));
  const JobView view = farm.show(again.id);
  EXPECT_EQ(view.state, JobState::failed);  // the negative result answers
  EXPECT_EQ(view.targets[0].fault->code, ErrorCode::unsupported);
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
  EXPECT_EQ(farm.show(job.id).steps[0].attempts.size(), 3u);
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
  EXPECT_EQ(view.steps[1].commits, 0u);
  EXPECT_NE(view.steps[1].attempts[0].message.find("did not upload"), std::string::npos);
}

TEST(Core, RefusesAResultForAnothersLease) {
  CoreHarness farm;
  const JobView job = farm.submit(make_submit("m", {"x"}));
  const RunStep run = run_of(farm.sync("honest", "x", Idle{}));
  farm.sync("thief", "x", Finished{run.ref, outcome_of(farm.store, run)});
  EXPECT_EQ(farm.show(job.id).steps[0].commits, 0u);
}

TEST(Core, AGreedyClientDoesNotStarveASmallOne) {
  CoreHarness farm;
  for (int i = 0; i < 200; ++i)
    farm.submit(make_submit("greedy " + std::to_string(i), {"x"}, std::to_string(i)), "greedy");
  // Some of the greedy one's work has begun already.
  RunStep run = run_of(farm.sync("w", "x", Idle{}));
  for (int i = 0; i < 20; ++i) run = run_of(farm.finish("w", "x", run));
  const JobView small = farm.submit(make_submit("small", {"x"}, "small"), "small");
  int waited = 0;
  while (farm.show(small.id).state != JobState::done && waited < 40) {
    run = run_of(farm.finish("w", "x", run));
    farm.sign();
    ++waited;
  }
  EXPECT_LE(waited, 15);  // five steps of its own, and as many of the other's beside them
}

TEST(Core, PriorityIsAShareNotAnOrder) {
  CoreHarness farm;
  for (int i = 0; i < 40; ++i) {
    SubmitRequest low = make_submit("low " + std::to_string(i), {"x"}, "l" + std::to_string(i));
    SubmitRequest high = make_submit("high " + std::to_string(i), {"x"}, "h" + std::to_string(i));
    high.priority = 100;
    farm.submit(low, "low");
    farm.submit(high, "high");
  }
  int high = 0, low = 0;
  RunStep run = run_of(farm.sync("w", "x", Idle{}));
  for (int i = 0; i < 30; ++i) {
    (farm.show(run.ref.job).client == "high" ? high : low)++;
    run = run_of(farm.finish("w", "x", run));
  }
  EXPECT_GT(high, 14);
  EXPECT_GT(low, 5);
}

TEST(Core, DrainsAndSendsHome) {
  CoreHarness farm;
  farm.sync("w", "x", Idle{});
  EXPECT_TRUE(std::holds_alternative<Done>(*farm.ask(DrainWorker{"w", true})));
  EXPECT_TRUE(std::holds_alternative<Drain>(farm.heard("w")->desired));
  farm.submit(make_submit("m", {"x"}));
  const auto reply = farm.sync("w", "x", Idle{});
  ASSERT_TRUE(reply);
  EXPECT_TRUE(std::holds_alternative<Exit>(reply->desired));
}

TEST(Core, AHeldSyncIsAnsweredInTime) {
  CoreHarness farm;
  EXPECT_FALSE(farm.sync("w", "x", Idle{}));
  farm.pass(milliseconds(4900));
  EXPECT_FALSE(farm.heard("w"));
  farm.pass(milliseconds(200));
  ASSERT_TRUE(farm.heard("w"));
  EXPECT_TRUE(std::holds_alternative<Keep>(farm.heard("w")->desired));
}

TEST(Core, ADryRunSaysWhatWouldHappenAndQueuesNothing) {
  CoreHarness farm;
  SubmitRequest request = make_submit("m", {"x"});
  request.dry_run = true;
  JobView view = std::get<JobReply>(*farm.ask(request)).job;
  EXPECT_EQ(view.id, "");
  EXPECT_EQ(view.targets[0].source, Source::built);
  EXPECT_EQ(view.targets[0].note, "no worker has ever offered this SKU");
  farm.submit(make_submit("m", {"x"}));
  work_off(farm, "w", "x");
  EXPECT_EQ(std::get<JobReply>(*farm.ask(request)).job.targets[0].source, Source::cache);
  request.model = sha256("other weights");
  request.targets[0].engine_key[0].value = "other weights";
  view = std::get<JobReply>(*farm.ask(request)).job;
  EXPECT_EQ(view.targets[0].note, "would be built without measuring: its tuning is in the catalog");
  EXPECT_EQ(farm.core().job_ids(false).size() + farm.core().job_ids(true).size(), 1u);
}

TEST(Core, RebuildReadsNothingAndWritesANewGeneration) {
  CoreHarness farm;
  farm.submit(make_submit("m", {"x"}));
  work_off(farm, "w", "x");
  SubmitRequest request = make_submit("m", {"x"});
  request.rebuild = true;
  const JobView job = farm.submit(request);
  EXPECT_EQ(work_off(farm, "w", "x").size(), 5u);
  EXPECT_EQ(farm.show(job.id).targets[0].source, Source::built);
}

TEST(Core, AResultWhoseBlobsAreGoneRepairsItself) {
  CoreHarness farm;
  const JobView first = farm.submit(make_submit("m", {"x"}));
  work_off(farm, "w", "x");
  farm.store.remove_blob(*farm.show(first.id).targets[0].engine);
  const JobView job = farm.submit(make_submit("m", {"x"}));
  farm.sign();
  const JobView end = farm.show(job.id);
  EXPECT_EQ(end.state, JobState::done);
  EXPECT_TRUE(farm.store.has_blob(*end.targets[0].engine));
}

TEST(Core, RefusesHostileKeysInsteadOfAborting) {
  CoreHarness farm;
  const auto refused = [&](const std::function<void(SubmitRequest&)>& change) {
    SubmitRequest request = make_submit("m", {"x"});
    farm.store.add_blob(request.model, 0, 0);
    request.wait_for_workers = true;
    change(request);
    const std::optional<Body> body = farm.ask(request);
    return body && std::holds_alternative<ErrorReply>(*body);
  };
  EXPECT_TRUE(refused([](SubmitRequest& r) { r.validate_key = {{"kind", "x"}}; }));
  EXPECT_TRUE(refused([](SubmitRequest& r) { r.validate_key = {{"a", "x"}, {"a", "y"}}; }));
  EXPECT_TRUE(refused([](SubmitRequest& r) { r.targets[0].engine_key[0].name = "Not A Name"; }));
  EXPECT_TRUE(
      refused([](SubmitRequest& r) { r.targets[0].tune_key[0].value.assign(1 << 20, 'x'); }));
  EXPECT_TRUE(refused([](SubmitRequest& r) { r.targets.push_back(r.targets[0]); }));
  EXPECT_TRUE(refused([](SubmitRequest& r) { r.targets.clear(); }));
  EXPECT_TRUE(refused([](SubmitRequest& r) { r.name = "../../etc/passwd"; }));
}

}  // namespace
}  // namespace enginery
