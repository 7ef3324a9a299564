// How steps end and are tried again, at the queue itself: each outcome's rule, cancelling at each
// state, the coordinator's own signature, and what a restart finds.
#include "coordinator/core/retry.h"
#include "tests/coordinator/core/queue_fixture.h"

namespace enginery {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

struct QueueAttemptsTest : QueueTest {
  // Adds a step, which the worker is given.
  uint64_t leased(StepKind kind = StepKind::verify, const std::string& worker = "w") {
    const uint64_t step = add(kind, "key", {1, 0});
    sync(worker, Idle{});
    EXPECT_TRUE(lease());
    return step;
  }
  // The step's next lease, by the worker.
  void lease_again(uint64_t step, const std::string& worker = "w") {
    after_back_off(step);
    sync(worker, Idle{});
    ASSERT_TRUE(lease());
  }
  StepEvent lose(const std::string& worker) {
    return turn([&](Turn& t) { return queue.lose(number_of(worker), "gone", t); });
  }
  std::optional<WorkerNo> cancel(uint64_t step) {
    return turn([&](Turn& t) {
      queue.leave(step, {1, 0});
      return queue.cancel(step, t);
    });
  }
};

// --- outcomes

TEST_F(QueueAttemptsTest, EachWayOfEndingIsTriedAsOftenAsItsRuleSays) {
  for (const OutcomeKind kind :
       {OutcomeKind::preempted, OutcomeKind::cancelled, OutcomeKind::back_pressure,
        OutcomeKind::out_of_memory, OutcomeKind::storage, OutcomeKind::internal}) {
    const RetryRule& rule = retry_rule(kind);
    const uint64_t step = add(StepKind::verify, to_string(kind), {1, 0});
    for (int tries = 1; tries <= rule.attempts; ++tries) {
      lease_again(step);
      const StepEvent event = sync("w", ended(ref_of(step), kind));
      const bool last = tries == rule.attempts;
      ASSERT_EQ(std::holds_alternative<StepGaveUp>(event), last) << to_string(kind);
      if (!last) {
        EXPECT_EQ(queue.step(step).retry_at, now + rule.back_off * tries) << to_string(kind);
      }
    }
    EXPECT_EQ(row(step).state, StepState::failed);
    EXPECT_EQ(row(step).commits, 0u);
    EXPECT_FALSE(queue.in_flight(sha256(to_string(kind))));
  }
}

TEST_F(QueueAttemptsTest, OneKindOfTroubleDoesNotCountForAnother) {
  const uint64_t step = leased();
  for (const OutcomeKind kind : {OutcomeKind::internal, OutcomeKind::out_of_memory,
                                 OutcomeKind::internal, OutcomeKind::storage}) {
    sync("w", ended(ref_of(step), kind));
    lease_again(step);
  }
  EXPECT_EQ(row(step).state, StepState::leased);
  EXPECT_EQ(row(step).epoch, 5u);
}

TEST_F(QueueAttemptsTest, ADeterministicFailureIsCommittedAtOnce) {
  const uint64_t step = leased();
  const StepEvent event = sync("w", ended(ref_of(step), OutcomeKind::failed, "no such operator"));
  const auto* committed = std::get_if<StepCommitted>(&event);
  ASSERT_NE(committed, nullptr);
  EXPECT_FALSE(committed->result.success);
  EXPECT_EQ(committed->result.fault.message, "no such operator");
  EXPECT_EQ(rows_of<CommitResult>(effects).size(), 1u);
  EXPECT_EQ(row(step).state, StepState::failed);
  EXPECT_EQ(row(step).commits, 1u);
}

// A fault goes into the views of every job that waits: 256 of them must fit one message.
TEST_F(QueueAttemptsTest, TheMessageOfAFaultIsCut) {
  const std::string endless(300'000, 'e');
  for (const OutcomeKind kind : {OutcomeKind::failed, OutcomeKind::out_of_memory}) {
    const uint64_t step = add(StepKind::verify, to_string(kind), {1, 0});
    for (int tries = 0; tries < 2 && !is_end(row(step).state); ++tries) {
      lease_again(step);
      sync("w", ended(ref_of(step), kind, endless));
    }
    EXPECT_EQ(row(step).state, StepState::failed);
    EXPECT_EQ(row(step).fault.message.size(), 2000u) << to_string(kind);
    EXPECT_EQ(row(step).attempts.back().message.size(), 4000u);
  }
}

TEST_F(QueueAttemptsTest, AReportWithAProblemIsTheWorkersFault) {
  const uint64_t step = leased(StepKind::tune);
  Outcome outcome;
  outcome.outputs = {{"choices", sha256("c"), 1}};
  take(request_of("w", Finished{ref_of(step), outcome}), {sha256("c")});
  EXPECT_EQ(row(step).state, StepState::queued);
  EXPECT_EQ(row(step).attempts.back().outcome, OutcomeKind::internal);
  lease_again(step);
  take(request_of("w", Finished{ref_of(step), outcome}));
  EXPECT_EQ(row(step).state, StepState::done);
}

TEST_F(QueueAttemptsTest, AnEndedStepIsNotCommittedAgain) {
  const uint64_t step = leased();
  const Finished report{ref_of(step), {}};
  sync("w", report);
  for (int repetition = 0; repetition < 2; ++repetition)
    EXPECT_TRUE(std::holds_alternative<std::monostate>(sync("w", report)));
  EXPECT_EQ(row(step).commits, 1u);
}

TEST_F(QueueAttemptsTest, AStaleReportIsWrittenDown) {
  const uint64_t step = leased();
  const StepRef old = ref_of(step);
  sync("w", ended(old, OutcomeKind::preempted));
  lease_again(step);
  sync("w", ended(old, OutcomeKind::failed));
  EXPECT_EQ(row(step).state, StepState::leased);
  const std::vector<AppendEvent> events = rows_of<AppendEvent>(effects);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, "stale");
}

TEST_F(QueueAttemptsTest, ThreeDeathsInAllQuarantineTheStepWhereverTheyHappen) {
  for (const std::vector<std::string>& workers :
       {std::vector<std::string>{"a", "a", "a"}, {"a", "b", "b"}, {"a", "b", "c"}}) {
    const uint64_t step = leased(StepKind::verify, workers[0]);
    for (size_t death = 0; death < workers.size(); ++death) {
      if (death > 0) lease_again(step, workers[death]);
      sync(workers[death], Running{ref_of(step), {}});
      EXPECT_EQ(std::holds_alternative<StepGaveUp>(lose(workers[death])), death == 2);
    }
    EXPECT_EQ(row(step).state, StepState::quarantined);
    EXPECT_TRUE(queue.quarantine_of(sha256("key"), StepKind::verify, {now, now}));
    turn([&](Turn& t) {
      queue.forgive(sha256("key"), t);
      return 0;
    });
  }
}

TEST_F(QueueAttemptsTest, DeathsAreCountedForTheKeyNotForTheStep) {
  const uint64_t first = leased();
  sync("w", ended(ref_of(first), OutcomeKind::crashed));
  EXPECT_FALSE(queue.is_alone(queue.step(first)));
  lease_again(first);
  sync("w", ended(ref_of(first), OutcomeKind::crashed));
  EXPECT_TRUE(queue.is_alone(queue.step(first))) << "a suspect";
  cancel(first);
  const uint64_t second = leased();
  EXPECT_EQ(queue.load_of(queue.worker(number_of("w"))), Load::measuring);
  sync("w", ended(ref_of(second), OutcomeKind::crashed));
  EXPECT_EQ(row(second).state, StepState::quarantined);
  ASSERT_EQ(rows_of<SaveKeyTrouble>(effects).size(), 1u);
  EXPECT_EQ(rows_of<SaveKeyTrouble>(effects)[0].trouble.kills, 3u);
}

TEST_F(QueueAttemptsTest, ASuccessFreesTheKeyOfItsDeaths) {
  const uint64_t step = leased();
  sync("w", ended(ref_of(step), OutcomeKind::crashed));
  lease_again(step);
  sync("w", Finished{ref_of(step), {}});
  ASSERT_EQ(rows_of<SaveKeyTrouble>(effects).size(), 1u);
  EXPECT_EQ(rows_of<SaveKeyTrouble>(effects)[0].trouble.kills, 0u);
}

TEST_F(QueueAttemptsTest, ASuccessOfTheSameKindEndsAWorkersStreak) {
  int keys = 0;
  const auto run = [&](StepKind kind, bool succeeds) {
    const uint64_t step = add(kind, "key " + std::to_string(++keys), {1, 0});
    sync("w", Idle{});
    EXPECT_TRUE(lease());
    const StepRef ref = ref_of(step);
    sync("w", succeeds ? Finished{ref, {}} : ended(ref, OutcomeKind::internal));
  };
  const auto reason = [&] { return queue.worker(number_of("w")).quarantine; };
  for (int i = 0; i < 2; ++i) run(StepKind::verify, false);
  run(StepKind::verify, true);
  for (int i = 0; i < 2; ++i) run(StepKind::verify, false);
  run(StepKind::validate, true);  // it says nothing about verify
  EXPECT_EQ(reason(), "");
  run(StepKind::verify, false);
  EXPECT_EQ(reason(), "3 steps failed on it and on no other worker; the latest, verify: why");
}

TEST_F(QueueAttemptsTest, AWorkerWithoutALeaseLosesNothing) {
  sync("w", Idle{});
  EXPECT_TRUE(std::holds_alternative<std::monostate>(lose("w")));
  EXPECT_TRUE(effects.rows.empty());
}

TEST_F(QueueAttemptsTest, ProgressThatStandsStillEndsTheAttempt) {
  const uint64_t step = leased();
  sync("w", Running{ref_of(step), {"import", 1, 2, 0}});
  now += options.no_progress;
  EXPECT_TRUE(std::holds_alternative<std::monostate>(
      sync("w", Running{ref_of(step), {"import", 1, 2, 0}})));
  now += milliseconds(1);
  sync("w", Running{ref_of(step), {"import", 1, 2, 0}});
  EXPECT_EQ(row(step).state, StepState::queued);
  EXPECT_EQ(row(step).attempts.back().message, "no progress in phase 'import'");
}

TEST_F(QueueAttemptsTest, AnyProgressStartsTheWaitAnew) {
  const uint64_t step = leased();
  for (uint64_t done = 0; done < 5; ++done) {
    now += options.no_progress - milliseconds(1);
    EXPECT_TRUE(std::holds_alternative<StepMoved>(
        sync("w", Running{ref_of(step), {"import", done + 1, 9, 0}})));
  }
  EXPECT_EQ(row(step).state, StepState::running);
}

TEST_F(QueueAttemptsTest, AStepThatNobodyWaitsForIsNotTriedAgain) {
  const uint64_t step = leased();
  queue.leave(step, {1, 0});
  const StepEvent event = sync("w", ended(ref_of(step), OutcomeKind::preempted));
  EXPECT_TRUE(std::holds_alternative<StepGaveUp>(event));
  EXPECT_EQ(row(step).state, StepState::cancelled);
}

// --- cancel

TEST_F(QueueAttemptsTest, CancellingAQueuedStepFreesItsKey) {
  const uint64_t step = add(StepKind::verify, "key", {1, 0});
  EXPECT_FALSE(cancel(step));  // no worker has to stop
  EXPECT_EQ(row(step).state, StepState::cancelled);
  EXPECT_FALSE(queue.in_flight(sha256("key")));
  EXPECT_EQ(queue.pools().ready_count(), 0u);
}

TEST_F(QueueAttemptsTest, CancellingALeasedOrRunningStepNamesItsWorker) {
  for (const bool runs : {false, true}) {
    const uint64_t step = leased();
    if (runs) sync("w", Running{ref_of(step), {}});
    const StepRef ref = ref_of(step);
    EXPECT_EQ(cancel(step), number_of("w"));
    EXPECT_EQ(row(step).attempts.back().outcome, OutcomeKind::cancelled);
    EXPECT_FALSE(queue.owns(number_of("w"), ref));
  }
}

TEST_F(QueueAttemptsTest, CancellingDuringTheBackOffIsFinal) {
  const uint64_t step = leased();
  sync("w", ended(ref_of(step), OutcomeKind::storage));
  EXPECT_FALSE(cancel(step));
  after_back_off(step);
  sync("w", Idle{});
  EXPECT_FALSE(lease());
}

TEST_F(QueueAttemptsTest, CancellingAnEndedStepChangesNothing) {
  const uint64_t step = leased();
  sync("w", Finished{ref_of(step), {}});
  EXPECT_FALSE(cancel(step));
  EXPECT_EQ(row(step).state, StepState::done);
  EXPECT_TRUE(effects.rows.empty());
}

// --- the signature

struct SignatureTest : QueueAttemptsTest {
  uint64_t add_signature() {
    StepRow row;
    row.kind = StepKind::sign;
    row.key = sha256("engine");
    row.state = StepState::committing;
    return add(row, {1, 0});
  }
  void ask(uint64_t step) {
    turn([&](Turn& t) {
      queue.ask_for_signature(step, {sha256("unsigned")}, t);
      return 0;
    });
  }
  StepEvent fail(uint64_t step, ErrorCode code) {
    return turn([&](Turn& t) { return queue.signing_failed(step, {code, "no"}, t); });
  }
};

TEST_F(SignatureTest, IsAskedForOnceAndNeverLeased) {
  const uint64_t step = add_signature();
  sync("w", Idle{});
  EXPECT_FALSE(lease());
  ask(step);
  ASSERT_EQ(effects.signing.size(), 1u);
  EXPECT_EQ(effects.signing[0].engine.blob, sha256("unsigned"));
  EXPECT_EQ(effects.signing[0].epoch, 1u);
  ask(step);
  EXPECT_TRUE(effects.signing.empty());
}

TEST_F(SignatureTest, OnlyTheLatestRequestsAnswerCounts) {
  const uint64_t step = add_signature();
  EXPECT_FALSE(queue.awaits_signature(step, 0));  // not asked for
  ask(step);
  EXPECT_TRUE(queue.awaits_signature(step, 1));
  EXPECT_FALSE(queue.awaits_signature(step, 2));
  EXPECT_FALSE(queue.awaits_signature(step + 1, 1));
  fail(step, ErrorCode::storage);
  EXPECT_FALSE(queue.awaits_signature(step, 1));
}

TEST_F(SignatureTest, IsAskedForAgainAfterARestThatGrows) {
  const uint64_t step = add_signature();
  const RetryRule& rule = retry_rule(OutcomeKind::storage);
  for (int tries = 1; tries < rule.attempts; ++tries) {
    ask(step);
    ASSERT_EQ(effects.signing.size(), 1u);
    timers.clear();
    EXPECT_TRUE(std::holds_alternative<std::monostate>(fail(step, ErrorCode::storage)));
    const Nanoseconds again = now + rule.back_off * tries;
    EXPECT_EQ(timers, (std::vector<Timer>{{again, TimerKind::sign_again, step}}));
    ask(step);
    EXPECT_TRUE(effects.signing.empty());  // too early
    now = again;
  }
  ask(step);
  const StepEvent event = fail(step, ErrorCode::storage);
  ASSERT_TRUE(std::holds_alternative<StepGaveUp>(event));
  EXPECT_FALSE(std::get<StepGaveUp>(event).inputs_gone);
}

TEST_F(SignatureTest, AnUnsignedEngineThatIsGoneIsNotAskedForAgain) {
  for (const ErrorCode code : {ErrorCode::not_found, ErrorCode::corrupt_data}) {
    const uint64_t step = add_signature();
    ask(step);
    const StepEvent event = fail(step, code);
    ASSERT_TRUE(std::holds_alternative<StepGaveUp>(event));
    EXPECT_TRUE(std::get<StepGaveUp>(event).inputs_gone) << to_string(code);
  }
}

// --- what a restart finds

struct RestartTest : QueueAttemptsTest {
  // The queue as it starts from the rows, a while later.
  void restart(Queue& fresh) {
    LoadedQueue rows;
    for (uint64_t id = 1; const LiveStep* step = queue.find(id); ++id) rows.steps[id] = step->row;
    fresh.load(std::move(rows));
    now += seconds(1);
    timers.clear();
    turn([&](Turn& t) {
      fresh.start(t);
      return 0;
    });
    EXPECT_EQ(fresh.check(), "");
  }
};

TEST_F(RestartTest, AWorkerGoesOnWithItsLease) {
  const uint64_t step = leased();
  sync("w", Running{ref_of(step), {}});
  Queue fresh(options);
  restart(fresh);
  EXPECT_TRUE(fresh.owns(0, ref_of(step)));
  EXPECT_FALSE(fresh.worker(0).reported);
  EXPECT_EQ(timers,
            (std::vector<Timer>{{now + options.worker_lost_after, TimerKind::worker_lost, 0}}));
}

TEST_F(RestartTest, ItsDeviceIsBusyBeforeItIsHeardOf) {
  leased(StepKind::tune, "w");
  Queue fresh(options);
  restart(fresh);
  EXPECT_EQ(fresh.load_of(fresh.worker(0)), Load::measuring);
}

TEST_F(RestartTest, TheNextStepHasANewNumberAndAnEndedKeyIsFree) {
  const uint64_t done = leased();
  sync("w", Finished{ref_of(done), {}});
  const uint64_t queued = add(StepKind::verify, "another", {2, 0});
  Queue fresh(options);
  restart(fresh);
  EXPECT_FALSE(fresh.in_flight(sha256("key")));
  EXPECT_EQ(fresh.in_flight(sha256("another")), queued);
  EXPECT_EQ(turn([&](Turn& t) { return fresh.add({}, "k", t); }), queued + 1);
}

TEST_F(RestartTest, TheAttemptsSoFarStillCount) {
  const uint64_t step = leased();
  sync("w", ended(ref_of(step), OutcomeKind::out_of_memory));
  Queue fresh(options);
  restart(fresh);
  EXPECT_EQ(count_tries(fresh.step(step).row.attempts, OutcomeKind::out_of_memory), 1);
}

// A newer enginery left a step of a kind that this one lacks: it is careful with it.
TEST_F(RestartTest, AStepOfAnUnknownKindCountsAsMeasuringAndEndsAsReported) {
  const uint64_t step = leased();
  StepRow newer = row(step);
  newer.kind = static_cast<StepKind>(77);
  Queue fresh(options);
  LoadedQueue rows;
  rows.steps[step] = newer;
  fresh.load(std::move(rows));
  turn([&](Turn& t) {
    fresh.start(t);
    return 0;
  });
  EXPECT_EQ(fresh.load_of(fresh.worker(0)), Load::measuring);
  const SyncRequest report = request_of("w", Finished{ref_of(step), {}});
  turn([&](Turn& t) {
    fresh.update(0, report, t);
    return fresh.heed(0, {}, t);
  });
  EXPECT_EQ(fresh.step(step).row.state, StepState::done);
}

}  // namespace
}  // namespace enginery
