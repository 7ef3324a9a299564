// What the farm bears without losing a job: damaged blobs, several toolchains of a SKU, a
// coordinator that stands still; and what it forgets.
#include <chrono>

#include "tests/coordinator/core/core_harness.h"

namespace enginery {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// --- damaged blobs

bool is_complete(const CoreHarness& farm, const RunStep& run) {
  const Step& step = *find_step(run.kind);
  for (const std::string& name : inputs_of(step, run.provisional, steps())) {
    const NamedBlob* blob = blob_named(run.inputs, name);
    if (blob != nullptr && !farm.store.has_blob(blob->digest)) return false;
  }
  return true;
}

// Works the job off with two workers in turn, as agents do: what a step reads and is not there is
// reported. Before the `at`-th step of the way one of the blobs goes that it reads; whether there
// was one.
bool work_off_without(CoreHarness& farm, size_t at, size_t which) {
  bool removed = false;
  size_t runs = 0;
  std::map<std::string, std::optional<RunStep>> holds;
  for (int round = 0; round < 400 && !is_end(farm.store.rows().jobs.at(1).state); ++round) {
    const std::string worker = round % 2 == 0 ? "a" : "b";
    std::optional<RunStep>& run = holds[worker];
    WorkerState state = Idle{};
    if (run && is_complete(farm, *run))
      state = Finished{run->ref, outcome_of(farm.store, *run)};
    else if (run)
      state =
          Finished{run->ref, {OutcomeKind::input_gone, {ErrorCode::not_found, "gone"}, {}, {}, {}}};
    std::optional<SyncReply> reply;
    if (!run) reply = farm.heard(worker);
    if (!told<RunStep>(reply)) reply = farm.sync(worker, "x", std::move(state));
    run.reset();
    farm.sign();
    farm.pass(milliseconds(50));
    if (!told<RunStep>(reply)) continue;
    run = std::get<RunStep>(reply->desired);
    if (runs++ != at || which >= run->inputs.size()) continue;
    farm.store.remove_blob(run->inputs[which].digest);
    removed = true;
  }
  return removed;
}

TEST(InputGone, AnyBlobOfARunningJobMayDisappear) {
  int removals = 0;
  for (size_t at = 0; at < 5; ++at) {
    for (size_t which = 0; which < 3; ++which) {
      CoreHarness farm;
      const JobView job = farm.submit(make_submit("m", {"x"}));
      removals += work_off_without(farm, at, which);
      EXPECT_EQ(farm.show(job.id).state, JobState::done)
          << "blob " << which << " before step " << at;
    }
  }
  EXPECT_GE(removals, 5) << "choices, content and unsigned are read by later steps";
}

TEST(InputGone, OfAWorkerThatOnlySaysSoGoesToAnotherOne) {
  CoreHarness farm;
  const JobView job = farm.submit(make_submit("m", {"x"}));
  std::optional<SyncReply> reply = farm.sync("liar", "x", Idle{});
  const RunStep run = run_of(reply);
  farm.sync("honest", "x", Idle{});
  farm.sync("liar", "x",
            Finished{run.ref, {OutcomeKind::input_gone, {ErrorCode::not_found, ""}, {}, {}, {}}});
  EXPECT_TRUE(told<RunStep>(farm.heard("honest")));
  farm.sync("liar", "x", Idle{});
  EXPECT_FALSE(is_end(farm.show(job.id).state));
}

// --- toolchains

std::optional<SyncReply> sync_with(CoreHarness& farm, const std::string& worker,
                                   const std::string& toolchain, WorkerState state = Idle{}) {
  static uint64_t sequence = 0;
  SyncRequest sync;
  sync.worker = sync.device = worker;
  sync.incarnation = 1;
  sync.sequence = ++sequence;
  sync.sku = "x";
  sync.kind = "cpu";
  sync.toolchain = toolchain;
  sync.state = std::move(state);
  const auto body = farm.ask(sync, worker);
  if (!body) return std::nullopt;
  return body_of<SyncReply>(body);
}

SubmitRequest submit_for(CoreHarness& farm, const std::string& model,
                         const std::string& toolchain) {
  SubmitRequest request = make_submit(model, {"x"}, model);
  request.targets[0].toolchain = toolchain;
  farm.store.add_blob(request.model, 0, 0);
  return request;
}

TEST(Toolchains, OfOneSkuServeAtOnceAndEverySubmitIsTaken) {
  CoreHarness farm;
  for (int round = 0; round < 5; ++round) {
    for (const char* toolchain : {"old", "new"}) {
      sync_with(farm, std::string("w ") + toolchain, toolchain);
      for (const char* wanted : {"old", "new"}) {
        const std::string model = std::string(wanted) + std::to_string(round) + toolchain;
        const auto body = farm.ask(submit_for(farm, model, wanted));
        if (round == 0 && std::string(toolchain) == "old" && std::string(wanted) == "new") {
          EXPECT_TRUE(std::holds_alternative<ErrorReply>(*body)) << "nobody has it yet";
          continue;
        }
        EXPECT_FALSE(body_of<JobReply>(body).job.id.empty());
      }
    }
  }
}

TEST(Toolchains, TheOneOfMostWorkersIsNamedFirst) {
  CoreHarness farm;
  sync_with(farm, "a", "old");
  sync_with(farm, "b", "new");
  sync_with(farm, "c", "new");
  const auto skus = [&] { return body_of<SkuList>(farm.ask(ListSkus{})).skus; };
  ASSERT_EQ(skus().size(), 1u);
  EXPECT_EQ(skus()[0].workers, 3u);
  EXPECT_EQ(skus()[0].toolchain, "new");
  ASSERT_EQ(skus()[0].toolchains.size(), 2u);
  EXPECT_EQ(skus()[0].toolchains[0].workers, 2u);
  EXPECT_EQ(skus()[0].toolchains[1].toolchain, "old");
  farm.pass(seconds(10));
  sync_with(farm, "a", "old");
  farm.pass(seconds(10));  // the others are lost
  EXPECT_EQ(skus()[0].toolchain, "old");
  EXPECT_EQ(skus()[0].workers, 1u);
  farm.restart();
  EXPECT_EQ(skus()[0].toolchains.size(), 2u);
}

// --- a coordinator that stands still

TEST(Stall, OfTheCoordinatorCostsNoLease) {
  CoreHarness farm;
  std::vector<RunStep> runs;
  for (int i = 0; i < 5; ++i) {
    farm.submit(make_submit("m" + std::to_string(i), {"x"}, std::to_string(i)));
    runs.push_back(run_of(farm.sync("w" + std::to_string(i), "x", Idle{})));
    farm.sync("w" + std::to_string(i), "x", Running{runs.back().ref, {}});
  }
  farm.pass(seconds(4));
  farm.stall(minutes(2));  // what the workers said meanwhile waits in the socket
  // One of them is read first; then its timers fire, before the others are heard.
  farm.sync("w0", "x", Running{runs[0].ref, {}});
  farm.pass(milliseconds(1));
  for (int i = 0; i < 5; ++i) {
    const StepView step = step_of(farm.show("j" + std::to_string(i + 1)), 0);
    EXPECT_EQ(step.state, StepState::running) << i;
  }
  farm.pass(seconds(20));  // who stays silent is lost all the same
  EXPECT_EQ(step_of(farm.show("j2"), 0).attempts.back().outcome, "worker_lost");
}

// --- what is forgotten

std::vector<WorkerView> workers(CoreHarness& farm) {
  return body_of<WorkerList>(farm.ask(ListWorkers{})).workers;
}

TEST(DeadWorkers, AreForgottenAfterAnHour) {
  CoreHarness farm;
  for (int i = 0; i < 20; ++i) farm.sync("pilot" + std::to_string(i), "x", Idle{});
  farm.pass(minutes(59));
  EXPECT_EQ(workers(farm).size(), 20u);
  farm.sync("pilot0", "x", Idle{});
  farm.pass(minutes(2));
  ASSERT_EQ(workers(farm).size(), 1u) << "the one that came back is lost for a minute only";
  EXPECT_EQ(workers(farm)[0].id, "pilot0");
  farm.pass(hours(2));
  EXPECT_TRUE(workers(farm).empty());
  // A forgotten name may come again.
  farm.submit(make_submit("m", {"x"}));
  EXPECT_TRUE(told<RunStep>(farm.sync("pilot1", "x", Idle{})));
}

TEST(DeadWorkers, StandBehindTheLivingOnes) {
  CoreHarness farm;
  for (int i = 0; i < 1100; ++i) farm.sync("dead" + std::to_string(i), "x", Idle{});
  farm.pass(seconds(20));
  farm.sync("living", "x", Idle{});
  ASSERT_EQ(workers(farm).size(), 1000u);
  EXPECT_EQ(workers(farm)[0].id, "living");
  farm.submit(make_submit("m", {"x"}));
  const ExplainReply why = body_of<ExplainReply>(farm.ask(ExplainJob{"j1"}));
  ASSERT_FALSE(why.targets.at(0).candidates.empty());
  EXPECT_EQ(why.targets[0].candidates[0].worker, "living");
}

TEST(DeadWorkers, AreForgottenByHandTheLivingOnesAreNot) {
  CoreHarness farm;
  farm.sync("w", "x", Idle{});
  const auto refused = body_of<ErrorReply>(farm.ask(ForgetWorker{"w"}));
  EXPECT_EQ(refused.fault.code, ErrorCode::usage);
  farm.pass(seconds(20));
  body_of<Done>(farm.ask(ForgetWorker{"w"}));
  EXPECT_TRUE(workers(farm).empty());
  EXPECT_EQ(body_of<ErrorReply>(farm.ask(ForgetWorker{"w"})).fault.code, ErrorCode::not_found);
}

TEST(Undrain, LetsAWorkerTakeWorkAgain) {
  CoreHarness farm;
  farm.sync("w", "x", Idle{});
  body_of<Done>(farm.ask(DrainWorker{"w", false}));
  EXPECT_TRUE(told<Drain>(farm.heard("w")));
  farm.submit(make_submit("m", {"x"}));
  EXPECT_FALSE(told<RunStep>(farm.sync("w", "x", Idle{})));
  body_of<Done>(farm.ask(UndrainWorker{"w"}));
  // The worker has taken the drain to heart: it is told that it is over, then given work.
  EXPECT_TRUE(told<Resume>(farm.heard("w")));
  EXPECT_TRUE(told<RunStep>(farm.sync("w", "x", Idle{})));
  EXPECT_EQ(body_of<ErrorReply>(farm.ask(UndrainWorker{"nobody"})).fault.code,
            ErrorCode::not_found);
}

// A drain belongs to the worker: neither a restart of the coordinator nor a reply that is still on
// its way leaves it drained for ever.
TEST(Undrain, ReachesAWorkerWheneverItSaysThatItDrains) {
  SyncRequest draining;
  draining.worker = "w";
  draining.incarnation = 1;
  draining.sequence = 1;
  draining.sku = "x";
  draining.device = "w";
  draining.toolchain = "tool 1";
  draining.prefer_idle = true;
  CoreHarness farm;
  farm.ask(draining, "w");  // an earlier coordinator told it to
  body_of<Done>(farm.ask(UndrainWorker{"w"}));
  EXPECT_TRUE(told<Resume>(farm.heard("w")));

  farm.sync("v", "x", Idle{});
  body_of<Done>(farm.ask(UndrainWorker{"v"}));  // while the word `drain` travels
  draining.worker = draining.device = "v";
  draining.sequence = 10;
  const auto reply = farm.ask(draining, "v");
  ASSERT_TRUE(reply);
  EXPECT_TRUE(told<Resume>(body_of<SyncReply>(reply)));
}

SyncRequest sync_of(const std::string& name, uint64_t sequence, uint64_t incarnation,
                    bool prefers_idle) {
  SyncRequest sync;
  sync.worker = sync.device = name;
  sync.incarnation = incarnation;
  sync.sequence = sequence;
  sync.sku = "x";
  sync.toolchain = "tool 1";
  sync.prefer_idle = prefers_idle;
  return sync;
}

// The coordinator dies after its answer and before the worker has heard of it.
struct WishesTest : testing::Test {
  CoreHarness farm;
  std::optional<Body> say(uint64_t incarnation, bool prefers_idle) {
    return farm.ask(sync_of("w", ++sequence, incarnation, prefers_idle), "w");
  }
  // As long as nobody listens at the worker's end.
  void ask_and_die(Body order) {
    farm.pass(seconds(6));
    (void)farm.heard("w");
    body_of<Done>(farm.ask(std::move(order)));
    farm.restart();
  }
  uint64_t sequence = 0;
};

TEST_F(WishesTest, ADrainReachesTheWorkerFromTheNextCoordinator) {
  say(1, false);
  ask_and_die(DrainWorker{"w", false});
  farm.submit(make_submit("m", {"x"}));
  EXPECT_TRUE(told<Drain>(body_of<SyncReply>(say(1, false))));
  EXPECT_FALSE(say(1, false)) << "no work for it";
}

TEST_F(WishesTest, SoDoesItsEnd) {
  say(1, false);
  ask_and_die(DrainWorker{"w", true});
  EXPECT_TRUE(told<Drain>(body_of<SyncReply>(say(1, false))));
  EXPECT_TRUE(told<Exit>(body_of<SyncReply>(say(1, true))));
}

TEST_F(WishesTest, AnUndrainReachesTheWorkerFromTheNextCoordinator) {
  say(1, false);
  body_of<Done>(farm.ask(DrainWorker{"w", false}));
  say(1, true);
  ask_and_die(UndrainWorker{"w"});
  EXPECT_TRUE(told<Resume>(body_of<SyncReply>(say(1, true))));
}

TEST_F(WishesTest, AreOfOneProcess) {
  say(1, false);
  ask_and_die(DrainWorker{"w", false});
  farm.submit(make_submit("m", {"x"}));
  EXPECT_TRUE(told<RunStep>(body_of<SyncReply>(say(2, false))));
  EXPECT_TRUE(farm.store.rows().wishes.empty());
}

}  // namespace
}  // namespace enginery
