// Failures of workers and failures of steps told apart: a broken worker costs no job, a model that
// ends processes is tried three times in all, and silence that ends is nobody's fault.
#include <chrono>

#include "tests/coordinator/core/core_harness.h"

namespace enginery {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

Outcome outcome_with(OutcomeKind kind, const std::string& message = "broke") {
  return {kind, {ErrorCode::internal, message}, {}, {}, {}};
}

WorkerView view_of(CoreHarness& farm, const std::string& worker) {
  for (const WorkerView& view : body_of<WorkerList>(farm.ask(ListWorkers{})).workers)
    if (view.id == worker) return view;
  ADD_FAILURE() << "no worker " << worker;
  return {};
}

// Workers of one SKU on a clock; each knows how it ends its steps, and how long that takes.
class Workers {
 public:
  using End = std::function<Outcome(const RunStep&)>;

  explicit Workers(CoreHarness& farm) : farm_(farm) {}

  void add(const std::string& name, Nanoseconds time, End end = {}) {
    workers_[name] = {time, std::move(end), {}, {}, 1};
  }
  // The worker's process dies with every step that `dies` is true of, and starts again.
  void add_mortal(const std::string& name, Nanoseconds time,
                  std::function<bool(const RunStep&)> dies) {
    add(name, time);
    workers_[name].dies = std::move(dies);
  }
  // Lets the farm run for that long, in steps of a tenth of a second.
  void run(Nanoseconds time) {
    for (Nanoseconds passed{}; passed < time; passed += milliseconds(100)) {
      for (auto& [name, worker] : workers_) turn(name, worker);
      farm_.sign();
      farm_.pass(milliseconds(100));
      now_ += milliseconds(100);
    }
  }
  int deaths = 0;

 private:
  struct Worker {
    Nanoseconds time{};
    End end;
    std::function<bool(const RunStep&)> dies;
    std::optional<std::pair<RunStep, Nanoseconds>> run;  // and when it ends
    uint64_t incarnation = 1;
  };

  void turn(const std::string& name, Worker& worker) {
    const bool dies = worker.run && worker.dies && worker.dies(worker.run->first);
    if (dies) {
      farm_.sync(name, "x", Running{worker.run->first.ref, {}}, "", worker.incarnation);
      ++deaths;
      ++worker.incarnation;
      worker.run.reset();
    }
    if (!worker.run && !dies && told<RunStep>(farm_.heard(name)))
      return begin(worker, *farm_.heard(name));
    const auto reply = farm_.sync(name, "x", state_of(worker), "", worker.incarnation);
    if (told<RunStep>(reply) && !worker.run) begin(worker, *reply);
  }
  void begin(Worker& worker, const SyncReply& reply) const {
    worker.run = {std::get<RunStep>(reply.desired), now_ + worker.time};
  }
  WorkerState state_of(Worker& worker) {
    if (!worker.run) return Idle{};
    const RunStep run = worker.run->first;
    if (worker.run->second > now_) return Running{run.ref, {}};
    worker.run.reset();
    return Finished{run.ref, worker.end ? worker.end(run) : outcome_of(farm_.store, run)};
  }

  CoreHarness& farm_;
  std::map<std::string, Worker> workers_;
  Nanoseconds now_{};
};

int count(CoreHarness& farm, JobState state) {
  int found = 0;
  for (const JobLine& job : body_of<JobList>(farm.ask(ListJobs{})).jobs)
    found += job.state == state;
  return found;
}

// However it fails: a broken driver, a full disk, a disk that damages what it fetched, a runner
// that crashes on everything.
struct BadWorker : testing::TestWithParam<OutcomeKind> {};

TEST_P(BadWorker, OfTenThatFailsAtOnceCostsNoJob) {
  CoreHarness farm;
  farm.stop_checking();
  for (int i = 0; i < 100; ++i)
    farm.submit(make_submit("m" + std::to_string(i), {"x"}, std::to_string(i)));
  Workers workers(farm);
  workers.add("bad", milliseconds(0), [](const RunStep&) { return outcome_with(GetParam()); });
  for (int i = 0; i < 9; ++i) workers.add("good" + std::to_string(i), seconds(1));
  workers.run(seconds(100));
  EXPECT_EQ(count(farm, JobState::failed), 0);
  EXPECT_EQ(count(farm, JobState::done), 100);
  const WorkerView bad = view_of(farm, "bad");
  EXPECT_EQ(bad.state, WorkerCondition::quarantined);
  EXPECT_EQ(bad.reason, "3 steps failed on it and on no other worker; the latest, validate: broke");
}

INSTANTIATE_TEST_SUITE_P(Outcomes, BadWorker,
                         testing::Values(OutcomeKind::internal, OutcomeKind::storage,
                                         OutcomeKind::input_gone, OutcomeKind::crashed),
                         [](const auto& kind) { return to_string(kind.param); });

TEST(WorkerHealth, AStepGoesToAnotherWorkerThatLives) {
  CoreHarness farm;
  farm.sync("a", "x", Idle{});
  const JobView job = farm.submit(make_submit("m", {"x"}));
  const RunStep run = run_of(farm.heard("a"));
  farm.sync("b", "x", Idle{});
  farm.sync("a", "x", Finished{run.ref, outcome_with(OutcomeKind::internal)});
  farm.sync("a", "x", Idle{});
  farm.pass(seconds(1));  // over the back-off
  EXPECT_EQ(step_of(farm.show(job.id), 0).attempts.size(), 2u);
  EXPECT_EQ(step_of(farm.show(job.id), 0).attempts.back().worker, "b");
}

TEST(WorkerHealth, AStepWaitsForABusyWorkerRatherThanForTheOneThatFailed) {
  CoreHarness farm;
  farm.submit(make_submit("m", {"x"}));
  const RunStep first = run_of(farm.sync("a", "x", Idle{}));
  const JobView other = farm.submit(make_submit("m2", {"x"}, "net 2"));
  const RunStep long_one = run_of(farm.sync("b", "x", Idle{}));
  EXPECT_EQ(long_one.ref.job, other.id);
  farm.sync("a", "x", Finished{first.ref, outcome_with(OutcomeKind::internal)});
  farm.sync("a", "x", Idle{});
  farm.pass(seconds(1));
  EXPECT_EQ(step_of(farm.show("j1"), 0).attempts.size(), 1u);
  const ExplainReply why = body_of<ExplainReply>(farm.ask(ExplainJob{"j1"}));
  ASSERT_EQ(why.targets.size(), 1u);
  ASSERT_EQ(why.targets[0].candidates.size(), 2u);
  EXPECT_EQ(why.targets[0].candidates[0].reason, "has failed on it; another worker can take it");
  // The other one falls silent: better the same worker than none.
  farm.pass(seconds(4));
  farm.sync("a", "x", Idle{});
  farm.pass(seconds(4));
  farm.sync("a", "x", Idle{});
  farm.pass(seconds(4));
  farm.sync("a", "x", Idle{});
  farm.pass(seconds(4));
  EXPECT_EQ(step_of(farm.show("j1"), 0).attempts.size(), 2u);
  EXPECT_EQ(step_of(farm.show("j1"), 0).attempts.back().worker, "a");
}

TEST(WorkerHealth, AStepThatFailsEverywhereBlamesNoWorker) {
  CoreHarness farm;
  Workers workers(farm);
  for (const char* name : {"a", "b"})
    workers.add(name, milliseconds(100),
                [](const RunStep&) { return outcome_with(OutcomeKind::internal); });
  for (int i = 0; i < 5; ++i) {
    farm.submit(make_submit("m" + std::to_string(i), {"x"}, std::to_string(i)));
    workers.run(seconds(5));
  }
  EXPECT_EQ(count(farm, JobState::failed), 5);
  for (const char* name : {"a", "b"}) EXPECT_EQ(view_of(farm, name).reason, "") << name;
}

// Three jobs, each of which fails once on the only worker.
RunStep fail_three(CoreHarness& farm) {
  RunStep run;
  for (int i = 0; i < 3; ++i) {
    farm.submit(make_submit("m" + std::to_string(i), {"x"}, std::to_string(i)));
    auto reply = farm.sync("w", "x", Idle{});
    run = run_of(reply ? reply : farm.heard("w"));
    farm.sync("w", "x", Finished{run.ref, outcome_with(OutcomeKind::storage, "the disk is full")});
  }
  return run;
}

std::optional<SyncReply> report_exam(CoreHarness& farm, uint64_t number,
                                     const std::string& problem) {
  static uint64_t sequence = 1'000'000;
  SyncRequest sync;
  sync.worker = sync.device = "w";
  sync.incarnation = 1;
  sync.sequence = ++sequence;
  sync.sku = "x";
  sync.kind = "cpu";
  sync.toolchain = "tool 1";
  sync.examined = number;
  sync.exam_problem = problem;
  const auto body = farm.ask(sync, "w");
  if (!body) return std::nullopt;
  return body_of<SyncReply>(body);
}

uint64_t exam_of(const std::optional<SyncReply>& reply) {
  if (told<Examine>(reply)) return std::get<Examine>(reply->desired).number;
  ADD_FAILURE() << "no self-test was asked for";
  return 0;
}

TEST(Quarantine, EndsWithASelfTestThatPasses) {
  CoreHarness farm;
  fail_three(farm);
  EXPECT_EQ(view_of(farm, "w").state, WorkerCondition::quarantined);
  EXPECT_NE(view_of(farm, "w").reason.find("the disk is full"), std::string::npos);
  farm.pass(seconds(10));  // the steps are ready again
  const uint64_t exam = exam_of(farm.sync("w", "x", Idle{}));
  EXPECT_FALSE(told<RunStep>(farm.sync("w", "x", Idle{})));
  EXPECT_TRUE(told<RunStep>(report_exam(farm, exam, "")));
  EXPECT_EQ(view_of(farm, "w").reason, "");
}

TEST(Quarantine, StaysWithASelfTestThatFailsUntilTheNextOne) {
  CoreHarness farm;
  fail_three(farm);
  farm.pass(milliseconds(1));
  const uint64_t exam = exam_of(farm.sync("w", "x", Idle{}));
  report_exam(farm, exam, "the guard kernel is 3 times slower");
  EXPECT_EQ(view_of(farm, "w").reason, "its self-test failed: the guard kernel is 3 times slower");
  report_exam(farm, exam + 1, "");  // a number that was not asked for
  EXPECT_EQ(view_of(farm, "w").state, WorkerCondition::quarantined);
  std::optional<SyncReply> reply;
  for (int i = 0; i < 35 && !told<Examine>(reply); ++i) {
    report_exam(farm, exam, "");  // the number of the test that failed
    farm.pass(seconds(2));
    reply = farm.heard("w");
  }
  EXPECT_NE(exam_of(reply), exam);
}

TEST(Quarantine, OutlivesTheCoordinator) {
  CoreHarness farm;
  fail_three(farm);
  const std::string reason = view_of(farm, "w").reason;
  farm.restart();
  farm.pass(seconds(10));
  EXPECT_TRUE(told<Examine>(farm.sync("w", "x", Idle{})));
  EXPECT_EQ(view_of(farm, "w").reason, reason);
}

// --- what ends processes

struct Killer : testing::TestWithParam<int> {};

TEST_P(Killer, OfRunnersIsTriedThreeTimesInAllAndTheNextSubmitHearsIt) {
  CoreHarness farm;
  int kills = 0;
  Workers workers(farm);
  for (int i = 0; i < GetParam(); ++i)
    workers.add("w" + std::to_string(i), milliseconds(500), [&](const RunStep& run) {
      if (run.kind != "tune") return outcome_of(farm.store, run);
      ++kills;
      return outcome_with(OutcomeKind::crashed, "the runner died of signal 11");
    });
  const JobView job = farm.submit(make_submit("m", {"x"}));
  workers.run(seconds(30));
  EXPECT_EQ(kills, 3);
  EXPECT_EQ(farm.show(job.id).state, JobState::failed);
  EXPECT_NE(fault_of(farm.show(job.id)).message.find("3 processes died"), std::string::npos);
  const JobView again = farm.submit(make_submit("m", {"x"}));
  EXPECT_EQ(again.state, JobState::failed) << "the answer to the submit itself says so";
  EXPECT_NE(fault_of(again).message.find("signal 11"), std::string::npos);
  EXPECT_EQ(kills, 3);
}

TEST_P(Killer, OfWorkersIsTriedThreeTimesInAllAndTheNextSubmitHearsIt) {
  CoreHarness farm;
  Workers workers(farm);
  for (int i = 0; i < GetParam(); ++i)
    workers.add_mortal("w" + std::to_string(i), milliseconds(500),
                       [](const RunStep& run) { return run.kind == "validate"; });
  const JobView job = farm.submit(make_submit("m", {"x"}));
  workers.run(seconds(30));
  EXPECT_EQ(workers.deaths, 3);
  EXPECT_EQ(farm.show(job.id).state, JobState::failed);
  farm.restart();
  EXPECT_EQ(farm.submit(make_submit("m", {"x"}, "another net")).state, JobState::failed)
      << "the key remembers across a restart";
}

INSTANTIATE_TEST_SUITE_P(Workers, Killer, testing::Values(1, 2, 3, 10));

// Only a step that ran can have ended a process.
TEST(DeathsBeforeTheBegin, AreHeldAgainstTheWorkersAndNotAgainstTheStep) {
  CoreHarness farm;
  const JobView job = farm.submit(make_submit("m", {"x"}));
  for (const char* worker : {"a", "b", "c", "d"}) {
    run_of(farm.sync(worker, "x", Idle{}));
    farm.pass(seconds(20));  // silent before it said that it runs the step
  }
  EXPECT_TRUE(farm.store.rows().troubles.empty());
  const StepView step = step_of(farm.show(job.id), 0);
  EXPECT_EQ(step.state, StepState::queued);
  EXPECT_EQ(step.attempts.back().outcome, "worker_lost");
  EXPECT_EQ(step.attempts.back().message, "worker d fell silent, before it began the step");
  Workers workers(farm);
  workers.add("e", milliseconds(100));
  workers.run(seconds(10));
  EXPECT_EQ(farm.show(job.id).state, JobState::done);
}

TEST(DeathsBeforeTheBegin, QuarantineAWorkerThatTakesStepsAndDies) {
  CoreHarness farm;
  for (int i = 0; i < 3; ++i)
    farm.submit(make_submit("m" + std::to_string(i), {"x"}, std::to_string(i)));
  for (uint64_t incarnation = 1; incarnation <= 3; ++incarnation) {
    farm.sync("spare", "x", Running{});  // lives, and is busy with something
    run_of(farm.sync("bad", "x", Idle{}, "", incarnation));
  }
  farm.sync("bad", "x", Idle{}, "", 4);
  EXPECT_EQ(view_of(farm, "bad").state, WorkerCondition::quarantined);
  EXPECT_TRUE(farm.store.rows().troubles.empty());
}

TEST(DeathsBeforeTheBegin, ThatWereNoneTakeNoOtherDeathBack) {
  CoreHarness farm;
  farm.submit(make_submit("m", {"x"}));
  const RunStep killed = run_of(farm.sync("a", "x", Idle{}));
  farm.sync("a", "x", Running{killed.ref, {}});
  farm.pass(seconds(20));
  ASSERT_EQ(farm.store.rows().troubles.size(), 1u);
  run_of(farm.sync("b", "x", Idle{}));
  farm.pass(seconds(20));
  farm.restart();
  farm.sync("b", "x", Idle{});  // alive, and it never began
  ASSERT_EQ(farm.store.rows().troubles.size(), 1u);
  EXPECT_EQ(farm.store.rows().troubles.begin()->second.kills, 1u);
}

TEST(KeyQuarantine, EndsByItselfAfterADay) {
  CoreHarness farm;
  Workers workers(farm);
  bool repaired = false;
  workers.add("w", milliseconds(100), [&](const RunStep& run) {
    return repaired ? outcome_of(farm.store, run) : outcome_with(OutcomeKind::crashed);
  });
  farm.submit(make_submit("m", {"x"}));
  workers.run(seconds(10));
  EXPECT_EQ(farm.submit(make_submit("m", {"x"})).state, JobState::failed);
  repaired = true;
  farm.pass(hours(25));
  const JobView job = farm.submit(make_submit("m", {"x"}));
  workers.run(seconds(10));
  EXPECT_EQ(farm.show(job.id).state, JobState::done);
}

TEST(KeyQuarantine, EndsWhenSomebodyAsksForAnotherTry) {
  CoreHarness farm;
  Workers workers(farm);
  workers.add("w", milliseconds(100),
              [](const RunStep&) { return outcome_with(OutcomeKind::crashed); });
  farm.submit(make_submit("m", {"x"}));
  workers.run(seconds(10));
  SubmitRequest retry = make_submit("m", {"x"});
  retry.try_quarantined = true;
  EXPECT_FALSE(is_end(farm.submit(retry).state));
}

// --- silence

TEST(Partition, AWorkerThatComesBackAliveHasNotDied) {
  CoreHarness farm;
  const JobView job = farm.submit(make_submit("m", {"x"}));
  for (int stall = 0; stall < 5; ++stall) {
    const std::string worker = "w" + std::to_string(stall % 3);
    const RunStep run = run_of(farm.sync(worker, "x", Idle{}));
    farm.sync(worker, "x", Running{run.ref, {}});
    farm.pass(seconds(20));
    EXPECT_EQ(step_of(farm.show(job.id), 0).attempts.back().outcome, "worker_lost");
    farm.sync(worker, "x", Running{run.ref, {}});  // the same process: it was only silent
    EXPECT_EQ(step_of(farm.show(job.id), 0).attempts.back().outcome, "partitioned");
    farm.pass(seconds(20));  // it is silent again, now without a lease
    if (stall == 2) farm.restart();
  }
  EXPECT_EQ(step_of(farm.show(job.id), 0).state, StepState::queued);
  EXPECT_TRUE(farm.store.rows().troubles.empty());
}

TEST(Partition, ThatEndsTakesAQuarantineBack) {
  CoreHarness farm;
  const JobView job = farm.submit(make_submit("m", {"x"}));
  std::vector<RunStep> runs;
  for (const char* worker : {"a", "b", "c"}) {
    runs.push_back(run_of(farm.sync(worker, "x", Idle{})));
    farm.sync(worker, "x", Running{runs.back().ref, {}});
    farm.pass(seconds(20));
  }
  EXPECT_EQ(farm.show(job.id).state, JobState::failed);
  farm.restart();
  farm.sync("b", "x", Running{runs[1].ref, {}});
  EXPECT_FALSE(is_end(farm.submit(make_submit("m", {"x"})).state));
}

}  // namespace
}  // namespace enginery
