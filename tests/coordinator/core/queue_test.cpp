#include "tests/coordinator/core/queue_fixture.h"

namespace enginery {
namespace {

using std::chrono::milliseconds;

TEST_F(QueueTest, GivesAReadyStepToAnIdleWorker) {
  const uint64_t step = add(StepKind::assemble, "a", {1, 0});
  EXPECT_FALSE(lease());
  sync("w", Idle{});
  const auto given = lease();
  ASSERT_TRUE(given);
  EXPECT_EQ(given->step, step);
  EXPECT_EQ(queue.step(step).row.state, StepState::leased);
  EXPECT_EQ(queue.step(step).row.epoch, 1u);
  EXPECT_FALSE(lease());
}

// It may have the device open and the model read.
TEST_F(QueueTest, WhatFollowsAStepGoesToTheWorkerThatHasJustEndedIt) {
  sync("first", Running{{"j9", 99, 1}, {}});
  sync("second", Idle{});
  const uint64_t before = add(StepKind::assemble, "a", {1, 0});
  ASSERT_TRUE(lease());
  EXPECT_FALSE(lease());
  sync("first", Idle{});
  sync("second", ended(ref_of(before), OutcomeKind::failed));
  const uint64_t after = add(StepKind::verify, "b", {2, 0});
  auto given = lease();
  ASSERT_TRUE(given);
  EXPECT_EQ(given->step, after);
  EXPECT_EQ(given->worker, number_of("second"));
  EXPECT_FALSE(lease());

  // It is idle and no more than that once it has heard that nothing follows.
  sync("second", ended(ref_of(after), OutcomeKind::failed));
  turn([&](Turn&) {
    queue.stop_listening(number_of("second"));
    return 0;
  });
  sync("second", Idle{});
  add(StepKind::assemble, "c", {3, 0});
  given = lease();
  ASSERT_TRUE(given);
  EXPECT_EQ(given->worker, number_of("first"));
}

TEST_F(QueueTest, MeasuresAloneOnADevice) {
  add(StepKind::tune, "a", {1, 0});
  add(StepKind::assemble, "b", {2, 0});
  sync("w1", Idle{}, "host");
  sync("w2", Idle{}, "host");
  const auto first = lease();
  ASSERT_TRUE(first);
  EXPECT_EQ(queue.step(first->step).row.kind, StepKind::tune);
  EXPECT_FALSE(lease());  // the other worker shares the device
  sync("w3", Idle{}, "another host");
  EXPECT_TRUE(lease());
}

TEST_F(QueueTest, ADeviceRunsEmptyForTheMeasurementThatIsNext) {
  const uint64_t working = add(StepKind::assemble, "a", {1, 0}, {"a", 0});
  add(StepKind::tune, "b", {2, 0}, {"b", 0});
  add(StepKind::assemble, "c", {3, 0}, {"b", 0});
  sync("w1", Idle{}, "host");
  sync("w2", Idle{}, "host");
  ASSERT_TRUE(lease());
  EXPECT_FALSE(lease());  // the tuning waits, and what is behind it does not overtake
  sync("w1", Finished{ref_of(working), {OutcomeKind::failed, {}, {}, {}, {}}}, "host");
  const auto next = lease();
  ASSERT_TRUE(next);
  EXPECT_EQ(queue.step(next->step).row.kind, StepKind::tune);
}

TEST_F(QueueTest, OwnsALeaseByStepEpochAndProcess) {
  const uint64_t step = add(StepKind::assemble, "a", {1, 0});
  sync("w", Idle{});
  const auto given = lease();
  ASSERT_TRUE(given);
  const StepRef ref = ref_of(step);
  EXPECT_TRUE(queue.owns(given->worker, ref));
  EXPECT_FALSE(queue.owns(given->worker, {"j1", step, ref.epoch + 1}));
  EXPECT_FALSE(queue.owns(given->worker, {"j1", step, ref.epoch - 1}));
  EXPECT_FALSE(queue.owns(given->worker, {"j1", step + 1, ref.epoch}));
}

TEST_F(QueueTest, HandsUpACommittedResultWithWhoWaitsForIt) {
  const uint64_t step = add(StepKind::verify, "a", {1, 0});
  queue.join(step, {2, 1}, {"other", 0});
  sync("w", Idle{});
  ASSERT_TRUE(lease());
  const StepEvent event = sync("w", Finished{ref_of(step), {}});
  const auto* committed = std::get_if<StepCommitted>(&event);
  ASSERT_NE(committed, nullptr);
  EXPECT_EQ(committed->waiters, (std::set<Waiter>{{1, 0}, {2, 1}}));
  EXPECT_TRUE(committed->result.success);
  EXPECT_FALSE(queue.in_flight(sha256("a")));
}

TEST_F(QueueTest, BacksOffAfterAFailedAttempt) {
  const uint64_t step = add(StepKind::verify, "a", {1, 0});
  sync("w", Idle{});
  ASSERT_TRUE(lease());
  timers.clear();
  const StepEvent event =
      sync("w", Finished{ref_of(step), {OutcomeKind::internal, {}, {}, {}, {}}});
  EXPECT_TRUE(std::holds_alternative<StepMoved>(event));
  ASSERT_EQ(timers.size(), 1u);
  EXPECT_EQ(timers[0], (Timer{now + milliseconds(200), TimerKind::back_off, step}));
  sync("w", Idle{});
  EXPECT_FALSE(lease());
  now += milliseconds(200);
  turn([&](Turn& t) {
    queue.make_ready(step, t);
    return 0;
  });
  EXPECT_TRUE(lease());
}

TEST_F(QueueTest, WhatNobodyWaitsForIsNotHandedOut) {
  const uint64_t step = add(StepKind::verify, "a", {1, 0});
  EXPECT_TRUE(queue.leave(step, {1, 0}));
  sync("w", Idle{});
  EXPECT_FALSE(lease());
}

TEST_F(QueueTest, ALeaseWhoseAnswerWasLostIsToldAgain) {
  add(StepKind::verify, "a", {1, 0});
  sync("w", Idle{});
  const auto given = lease();
  ASSERT_TRUE(given);
  EXPECT_FALSE(queue.worker(given->worker).listening);
  sync("w", Idle{});
  EXPECT_EQ(queue.order_for(given->worker), Order::run);
}

TEST_F(QueueTest, TellsAWorkerOnceToStop) {
  sync("w", Running{{"j9", 9, 1}, {}});  // a step that this coordinator does not know
  const WorkerNo worker = 0;
  EXPECT_EQ(queue.order_for(worker), Order::cancel);
  EXPECT_EQ(queue.order_for(worker), Order::cancel_told);
  sync("w", Idle{});
  EXPECT_EQ(queue.order_for(worker), Order::none);
}

TEST_F(QueueTest, FindsAWorkerLostAfterItsSilence) {
  add(StepKind::verify, "a", {1, 0});
  sync("w", Idle{});
  ASSERT_TRUE(lease());
  const auto silent = [&] { return turn([&](Turn& t) { return queue.falls_silent(0, t); }); };
  now += options.worker_lost_after - milliseconds(1);
  EXPECT_FALSE(silent());
  now += milliseconds(1);
  EXPECT_TRUE(silent());
  EXPECT_FALSE(silent());  // found once
}

}  // namespace
}  // namespace enginery
