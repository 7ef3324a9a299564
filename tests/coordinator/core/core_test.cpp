#include "coordinator/core/core.h"

#include <chrono>

#include "engine/options/options.h"
#include "tests/coordinator/core/core_harness.h"

namespace enginery {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Works off whatever the worker is given until it hears nothing; returns the kinds in order.
std::vector<std::string> work_off(CoreHarness& farm, const std::string& worker,
                                  const std::string& sku) {
  std::vector<std::string> kinds;
  std::optional<SyncReply> reply = farm.sync(worker, sku, Idle{});
  while (kinds.size() < 100) {
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
  ADD_FAILURE() << "the worker is given steps without end";
  return kinds;
}

TEST(Core, WalksATargetThroughItsSteps) {
  CoreHarness farm;
  const JobView job = farm.submit(make_submit("m", {"x"}));
  EXPECT_FALSE(is_end(job.state));
  EXPECT_EQ(work_off(farm, "w", "x"),
            (std::vector<std::string>{"validate", "tune", "assemble", "verify", "profile"}));
  const JobView end = farm.show(job.id);
  EXPECT_EQ(end.state, JobState::done);
  EXPECT_EQ(target_of(end).source, Source::built);
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
  const RunStep run = run_of(body_of<SyncReply>(body));
  EXPECT_EQ(run.kind, "assemble");
  EXPECT_TRUE(run.provisional);
  sync.sequence = 2;
  sync.state = Finished{run.ref, outcome_of(farm.store, run)};
  farm.ask(sync, "compiler");
  farm.sign();
  const JobView end = farm.show(job.id);
  EXPECT_EQ(end.state, JobState::done);
  EXPECT_TRUE(target_of(end).provisional);
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
  const ExplainReply explained = body_of<ExplainReply>(farm.ask(ExplainJob{"j1"}));
  for (const ExplainView& target : explained.targets) EXPECT_FALSE(target.reason.empty());
}

TEST(Core, ACancelledStepOccupiesItsDeviceUntilItStops) {
  CoreHarness farm;
  const JobView first = farm.submit(make_submit("m", {"x"}));
  const RunStep validate = run_of(farm.sync("wx", "x", Idle{}, "host"));
  const RunStep tune = run_of(farm.finish("wx", "x", validate, "host"));
  farm.sync("wx", "x", Running{tune.ref, {}}, "host");
  farm.ask(CancelJob{first.id});
  EXPECT_TRUE(told<Cancel>(farm.heard("wx")));
  farm.submit(make_submit("other", {"y"}, "other net"));
  EXPECT_FALSE(farm.sync("wy", "y", Idle{}, "host"));  // still measured on
  farm.sync("wx", "x", Running{tune.ref, {}}, "host");
  const auto freed = farm.sync("wx", "x", Idle{}, "host");
  EXPECT_TRUE(freed || farm.heard("wy"));
}

TEST(Core, CancelEndsAStepThatNobodyWaitsFor) {
  CoreHarness farm;
  const JobView job = farm.submit(make_submit("m", {"x"}));
  EXPECT_EQ(step_of(farm.show(job.id), 0).state, StepState::queued);
  farm.ask(CancelJob{job.id});
  EXPECT_EQ(step_of(farm.show(job.id), 0).state, StepState::cancelled);
  EXPECT_FALSE(farm.sync("w", "x", Idle{}));  // nothing to run
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
    farm.pass(seconds(1));
    run = run_of(farm.finish("w", "x", run));
  }
  EXPECT_GT(high, 14);
  EXPECT_GT(low, 5);
}

TEST(Core, DrainsAndSendsHome) {
  CoreHarness farm;
  farm.sync("w", "x", Idle{});
  body_of<Done>(farm.ask(DrainWorker{"w", true}));
  EXPECT_TRUE(told<Drain>(farm.heard("w")));
  farm.submit(make_submit("m", {"x"}));
  const auto reply = farm.sync("w", "x", Idle{});
  EXPECT_TRUE(told<Exit>(reply));
}

TEST(Core, AHeldSyncIsAnsweredInTime) {
  CoreHarness farm;
  EXPECT_FALSE(farm.sync("w", "x", Idle{}));
  farm.pass(milliseconds(4900));
  EXPECT_FALSE(farm.heard("w"));
  farm.pass(milliseconds(200));
  ASSERT_TRUE(farm.heard("w"));
  EXPECT_TRUE(told<Keep>(farm.heard("w")));
}

TEST(Core, AWaitIsAnsweredByTheChangeThatItWaitsFor) {
  CoreHarness farm;
  const JobView job = farm.submit(make_submit("m", {"x"}));
  const uint64_t revision = farm.show(job.id).revision;
  EXPECT_FALSE(farm.ask(WaitJob{job.id, revision, 5000, false}, "any change"));
  EXPECT_FALSE(farm.ask(WaitJob{job.id, revision, 5000, true}, "the end"));
  const RunStep run = run_of(farm.sync("w", "x", Idle{}));
  EXPECT_TRUE(farm.answered("any change"));
  EXPECT_FALSE(farm.answered("the end"));
  farm.sync("w", "x", Finished{run.ref, {OutcomeKind::failed, {}, {}, {}, {}}});
  EXPECT_TRUE(farm.answered("the end"));
}

TEST(Core, AWaitIsAnsweredWhenItsTimeIsOver) {
  CoreHarness farm;
  const JobView job = farm.submit(make_submit("m", {"x"}));
  const uint64_t revision = farm.show(job.id).revision;
  EXPECT_FALSE(farm.ask(WaitJob{job.id, revision, 2000, false}, "waiting"));
  farm.pass(milliseconds(1900));
  EXPECT_FALSE(farm.answered("waiting"));
  farm.pass(milliseconds(200));
  EXPECT_TRUE(farm.answered("waiting"));
}

TEST(Core, ARepeatedSubmitMakesOneJob) {
  CoreHarness farm;
  SubmitRequest request = make_submit("m", {"x"});
  farm.store.add_blob(request.model, 0, 0);
  request.wait_for_workers = true;
  const RequestId id{7, 7};
  const JobView first = body_of<JobReply>(farm.ask(request, "tester", id)).job;
  const JobView again = body_of<JobReply>(farm.ask(request, "tester", id)).job;
  EXPECT_EQ(first.id, again.id);
  EXPECT_EQ(farm.core().job_ids(false).size(), 1u);
}

// A row in the table and nothing else: the chain, the key, the lease and the check of the report
// follow from it.
TEST(Core, AStepIsAddedWithOneRow) {
  std::vector<Step> table(steps().begin(), steps().end());
  const auto kind = static_cast<StepKind>(100);
  table.insert(table.begin() + 3, {kind,
                                   "survey",
                                   "surveying",
                                   {"model"},
                                   "ranges",
                                   Needs::device,
                                   KeyRule::chained,
                                   InChain::tuned_only});
  CoreOptions options;
  options.steps = table;
  CoreHarness farm(options);
  const JobView job = farm.submit(make_submit("m", {"x"}));
  EXPECT_EQ(work_off(farm, "w", "x"), (std::vector<std::string>{"validate", "survey", "tune",
                                                                "assemble", "verify", "profile"}));
  EXPECT_EQ(farm.show(job.id).state, JobState::done);
}

// A build for two SKUs that the farm calibrates on `rows`.
SubmitRequest make_calibrating(const std::string& model, const std::string& rows) {
  BuildOptions options;
  options.precisions.insert(Precision::int8);
  options.calib_data = sha256(rows).text();
  options.calibrator = "mse";
  SubmitRequest submit = make_submit(model, {"x", "y"});
  submit.options = to_text(options);
  submit.inputs = {{"calib_data", sha256(rows), rows.size()}};
  const std::vector<NamedText> data = {{"calibrator", "mse"}, {"calib_data", options.calib_data}};
  submit.validate_key.insert(submit.validate_key.end(), data.begin(), data.end());
  for (TargetRequest& target : submit.targets) {
    target.engine_key.insert(target.engine_key.end(), data.begin(), data.end());
    target.tune_key[0].value = "";  // the structure, which only the calibrated model has
  }
  return submit;
}

using Kinds = std::vector<std::string>;

TEST(Core, ACalibrationIsRunOnceForAllTargetsAndItsNetworkNamesTheTuning) {
  CoreHarness farm;
  for (const char* rows : {"rows", "more rows"}) farm.store.add_blob(sha256(rows), 0, 0);
  const JobView job = farm.submit(make_calibrating("m", "rows"));
  const Kinds all = {"calibrate", "validate", "tune", "assemble", "verify", "profile"};
  EXPECT_EQ(work_off(farm, "w", "x"), all);
  EXPECT_EQ(work_off(farm, "v", "y"), Kinds(all.begin() + 2, all.end()));
  EXPECT_EQ(farm.show(job.id).state, JobState::done);
  farm.submit(make_calibrating("m", "rows"));
  EXPECT_EQ(work_off(farm, "w", "x"), Kinds{}) << "the engine is there";
  farm.submit(make_calibrating("m", "more rows"));
  const Kinds untuned = {"calibrate", "validate", "assemble", "verify", "profile"};
  EXPECT_EQ(work_off(farm, "w", "x"), untuned) << "new data measure nothing";
  work_off(farm, "v", "y");
  farm.submit(make_calibrating("other weights", "rows"));
  EXPECT_EQ(work_off(farm, "w", "x"), untuned) << "nor do new weights";
}

TEST(Core, ACalibratingJobFindsItsTuningAgainAfterARestart) {
  CoreHarness farm;
  farm.store.add_blob(sha256("rows"), 0, 0);
  const JobView job = farm.submit(make_calibrating("m", "rows"));
  for (const char* kind : {"calibrate", "validate"}) {
    const RunStep run = run_of(farm.sync("w", "x", Idle{}));
    EXPECT_EQ(run.kind, kind);
    farm.finish("w", "x", run);
  }
  farm.restart();
  EXPECT_EQ(work_off(farm, "w", "x"), (Kinds{"tune", "assemble", "verify", "profile"}));
  work_off(farm, "v", "y");
  EXPECT_EQ(farm.show(job.id).state, JobState::done);
}

TEST(Core, ADryRunSaysWhatWouldHappenAndQueuesNothing) {
  CoreHarness farm;
  SubmitRequest request = make_submit("m", {"x"});
  request.dry_run = true;
  JobView view = body_of<JobReply>(farm.ask(request)).job;
  EXPECT_EQ(view.id, "");
  EXPECT_EQ(target_of(view).source, Source::built);
  EXPECT_EQ(target_of(view).note, "no worker has ever offered this SKU");
  farm.submit(make_submit("m", {"x"}));
  work_off(farm, "w", "x");
  EXPECT_EQ(target_of(body_of<JobReply>(farm.ask(request)).job).source, Source::cache);
  request = make_submit("other weights", {"x"});
  request.dry_run = true;
  view = body_of<JobReply>(farm.ask(request)).job;
  EXPECT_EQ(target_of(view).note, "would be built without measuring: its tuning is in the catalog");
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
  EXPECT_EQ(target_of(farm.show(job.id)).source, Source::built);
}

TEST(Core, AResultWhoseBlobsAreGoneRepairsItself) {
  CoreHarness farm;
  const JobView first = farm.submit(make_submit("m", {"x"}));
  work_off(farm, "w", "x");
  farm.store.remove_blob(engine_of(farm.show(first.id)));
  const JobView job = farm.submit(make_submit("m", {"x"}));
  farm.sign();
  const JobView end = farm.show(job.id);
  EXPECT_EQ(end.state, JobState::done);
  EXPECT_TRUE(farm.store.has_blob(engine_of(end)));
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
