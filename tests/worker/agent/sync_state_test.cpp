#include "worker/agent/sync_state.h"

#include <gtest/gtest.h>

namespace enginery {
namespace {

const StepRef kOne{"j1", 1, 1}, kTwo{"j1", 2, 1};

SyncReply says(Desired desired) {
  return {5000, std::move(desired)};
}
RunStep run(const StepRef& ref) {
  RunStep out;
  out.ref = ref;
  return out;
}
template <typename T>
bool is(const AgentTask& task) {
  return std::holds_alternative<T>(task);
}

TEST(SyncState, StartsWhatItIsGivenAndReportsUntilHeard) {
  SyncState state({});
  EXPECT_TRUE(is<std::monostate>(state.answered(says(Keep{}))));
  const AgentTask task = state.answered(says(run(kOne)));
  ASSERT_TRUE(is<StartStep>(task));
  EXPECT_EQ(std::get<StartStep>(task).run.ref, kOne);
  state.start(kOne);
  state.progress({"tuning", 1, 2});
  EXPECT_EQ(std::get<Running>(state.latest().state).progress.done, 1u);
  EXPECT_TRUE(is<std::monostate>(state.answered(says(Keep{}))));
  state.finish({});
  EXPECT_TRUE(state.finished());
  EXPECT_TRUE(is<std::monostate>(state.answered(says(Keep{}))));
  EXPECT_TRUE(state.finished());
  EXPECT_TRUE(is<std::monostate>(state.answered(says(BeIdle{}))));
  EXPECT_TRUE(state.idle());
}

TEST(SyncState, TestsItselfOnceForEachNumber) {
  SyncState state({});
  const AgentTask task = state.answered(says(Examine{7}));
  ASSERT_TRUE(is<TestSelf>(task));
  EXPECT_EQ(std::get<TestSelf>(task).number, 7u);
  state.examined(7, "the disk is full");
  EXPECT_EQ(state.next().examined, 7u);
  EXPECT_EQ(state.latest().exam_problem, "the disk is full");
  EXPECT_TRUE(is<std::monostate>(state.answered(says(Examine{7}))));
  EXPECT_TRUE(is<TestSelf>(state.answered(says(Examine{8}))));
  state.start(kOne);
  EXPECT_TRUE(is<std::monostate>(state.answered(says(Examine{9})))) << "never beside a step";
}

TEST(SyncState, TakesWorkAgainAfterADrainButNotAfterItsOwnStop) {
  SyncState state({});
  state.answered(says(Drain{}));
  EXPECT_TRUE(state.latest().prefer_idle);
  state.answered(says(Resume{}));
  EXPECT_FALSE(state.latest().prefer_idle);
  state.prefer_idle();
  state.answered(says(Resume{}));
  EXPECT_TRUE(state.latest().prefer_idle);
}

TEST(SyncState, TakesTheNextStepAsTheAnswerToItsEnd) {
  SyncState state({});
  state.start(kOne);
  state.finish({});
  const AgentTask task = state.answered(says(run(kTwo)));
  ASSERT_TRUE(is<StartStep>(task));
  EXPECT_EQ(std::get<StartStep>(task).run.ref, kTwo);
}

TEST(SyncState, IgnoresARepeatedOrderAndAStaleCancel) {
  SyncState state({});
  state.start(kOne);
  EXPECT_TRUE(is<std::monostate>(state.answered(says(run(kOne)))));
  EXPECT_TRUE(is<std::monostate>(state.answered(says(Cancel{kTwo}))));
  EXPECT_TRUE(is<StopStep>(state.answered(says(Cancel{kOne}))));
}

TEST(SyncState, LetsGoOfAStepThatTheCoordinatorTookAway) {
  SyncState state({});
  state.start(kOne);
  EXPECT_TRUE(is<StopStep>(state.answered(says(run(kTwo)))));
  EXPECT_TRUE(is<StopStep>(state.answered(says(BeIdle{}))));
}

TEST(SyncState, DrainsAndExits) {
  SyncState state({});
  state.start(kOne);
  EXPECT_TRUE(is<std::monostate>(state.answered(says(Drain{}))));
  EXPECT_TRUE(state.latest().prefer_idle);
  EXPECT_TRUE(is<EndAgent>(state.answered(says(Exit{}))));
}

// What each answer makes of each state: one row of the protocol a line.
TEST(SyncState, MakesOfEachAnswerWhatTheTableSays) {
  enum class State { idle, running, finished };
  enum class Task { none, start, stop, end };
  const struct {
    const char* name;
    State state;
    Desired desired;
    Task task;
    State then;
  } rows[] = {
      {"idle, keep", State::idle, Keep{}, Task::none, State::idle},
      {"idle, be idle", State::idle, BeIdle{}, Task::none, State::idle},
      {"idle, cancel of a step long gone", State::idle, Cancel{kOne}, Task::none, State::idle},
      {"idle, drain", State::idle, Drain{}, Task::none, State::idle},
      {"idle, exit", State::idle, Exit{}, Task::end, State::idle},
      {"running, keep", State::running, Keep{}, Task::none, State::running},
      {"running, be idle", State::running, BeIdle{}, Task::stop, State::running},
      {"running, cancel", State::running, Cancel{kOne}, Task::stop, State::running},
      {"running, cancel of another", State::running, Cancel{kTwo}, Task::none, State::running},
      {"running, cancel of another epoch", State::running, Cancel{{"j1", 1, 2}}, Task::none,
       State::running},
      {"running, its own order again", State::running, run(kOne), Task::none, State::running},
      {"running, another order", State::running, run(kTwo), Task::stop, State::running},
      {"running, exit", State::running, Exit{}, Task::end, State::running},
      {"finished, keep: not heard yet", State::finished, Keep{}, Task::none, State::finished},
      {"finished, be idle: heard", State::finished, BeIdle{}, Task::none, State::idle},
      {"finished, a stale cancel", State::finished, Cancel{kOne}, Task::none, State::idle},
      {"finished, the next order", State::finished, run(kTwo), Task::start, State::idle},
      {"finished, exit", State::finished, Exit{}, Task::end, State::finished},
  };
  for (const auto& row : rows) {
    SyncState state({});
    if (row.state != State::idle) state.start(kOne);
    if (row.state == State::finished) state.finish({});
    const AgentTask task = state.answered(says(row.desired));
    const Task got = is<StartStep>(task)  ? Task::start
                     : is<StopStep>(task) ? Task::stop
                     : is<EndAgent>(task) ? Task::end
                                          : Task::none;
    EXPECT_EQ(got, row.task) << row.name;
    EXPECT_EQ(state.idle(), row.then == State::idle) << row.name;
    EXPECT_EQ(state.finished(), row.then == State::finished) << row.name;
  }
}

TEST(SyncState, ReportsTheOutcomeOfTheStepThatItRan) {
  SyncState state({});
  state.start(kTwo);
  Outcome outcome;
  outcome.kind = OutcomeKind::storage;
  state.finish(outcome);
  const auto& finished = std::get<Finished>(state.next().state);
  EXPECT_EQ(finished.ref, kTwo);
  EXPECT_EQ(finished.outcome.kind, OutcomeKind::storage);
}

TEST(SyncState, SaysNothingOfAStepThatDoesNotRun) {
  SyncState state({});
  state.progress({"tuning", 1, 2});
  state.finish({});
  EXPECT_TRUE(state.idle());
}

TEST(SyncState, CountsEveryNewSync) {
  SyncState state({});
  const uint64_t first = state.next().sequence;
  EXPECT_EQ(state.next().sequence, first + 1);
  EXPECT_EQ(state.latest().sequence, first + 1);
}

}  // namespace
}  // namespace enginery
