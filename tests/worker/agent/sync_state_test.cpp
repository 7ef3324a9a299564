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

TEST(SyncState, CountsEveryNewSync) {
  SyncState state({});
  const uint64_t first = state.next().sequence;
  EXPECT_EQ(state.next().sequence, first + 1);
  EXPECT_EQ(state.latest().sequence, first + 1);
}

}  // namespace
}  // namespace enginery
