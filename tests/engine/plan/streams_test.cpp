// Streams over plans made by hand: who runs beside whom, what is waited for, and that shared bytes
// are never used by two at once.
#include "engine/plan/streams.h"

#include <gtest/gtest.h>

#include <random>

#include "engine/plan/memory.h"

namespace enginery {
namespace {

// A plan whose tensor i is storage i.
Plan plan_of(int tensors, const std::vector<std::pair<std::vector<int>, int>>& steps) {
  Plan plan;
  for (int i = 0; i < tensors; ++i) {
    plan.storages.push_back({StorageKind::arena, 1000, 0, 0, 0});
    plan.tensors.push_back({"t", {}, {}, i});
  }
  for (const auto& [inputs, output] : steps) {
    PlanStep step;
    step.inputs = inputs;
    step.outputs = {output};
    plan.steps.push_back(step);
  }
  return plan;
}

std::vector<int> streams_of(const Plan& plan) {
  std::vector<int> out;
  for (const PlanStep& step : plan.steps) out.push_back(step.stream);
  return out;
}

// 0 -> a -> (b, c) -> d, as in a fire module.
Plan diamond() {
  return plan_of(5, {{{0}, 1}, {{1}, 2}, {{1}, 3}, {{2, 3}, 4}});
}

TEST(AssignStreams, KeepsAChainOnOneStream) {
  Plan plan = plan_of(4, {{{0}, 1}, {{1}, 2}, {{2}, 3}});
  assign_streams(plan, 4);
  EXPECT_EQ(stream_count(plan), 1);
}

TEST(AssignStreams, PutsABranchBesideTheOther) {
  Plan plan = diamond();
  assign_streams(plan, 4);
  EXPECT_EQ(streams_of(plan), (std::vector<int>{0, 0, 1, 0}));
  const StepOrder order(plan);
  EXPECT_EQ(order.waits(2), (std::vector<int>{0}));
  EXPECT_EQ(order.waits(3), (std::vector<int>{2}));
  EXPECT_TRUE(order.before(0, 2));
  EXPECT_FALSE(order.before(1, 2));
  EXPECT_TRUE(order.before(2, 3));
}

TEST(AssignStreams, UsesAStreamAgainThatIsIdle) {
  Plan plan =
      plan_of(8, {{{0}, 1}, {{1}, 2}, {{1}, 3}, {{2, 3}, 4}, {{4}, 5}, {{4}, 6}, {{5, 6}, 7}});
  assign_streams(plan, 4);
  EXPECT_EQ(streams_of(plan), (std::vector<int>{0, 0, 1, 0, 0, 1, 0}));
}

TEST(AssignStreams, NamesNoMoreThanAllowed) {
  Plan plan = plan_of(7, {{{0}, 1}, {{0}, 2}, {{0}, 3}, {{0}, 4}, {{0}, 5}, {{1, 2, 3, 4, 5}, 6}});
  assign_streams(plan, 3);
  EXPECT_EQ(stream_count(plan), 3);
  assign_streams(plan, 1);
  EXPECT_EQ(stream_count(plan), 1);
}

TEST(StepOrder, AStepThatOverwritesWaitsForThoseThatRead) {
  Plan plan = plan_of(
      4, {{{0}, 1}, {{1}, 2}, {{1}, 3}, {{2}, 1}});  // the last one writes what the third reads
  plan.steps[2].stream = 1;
  EXPECT_EQ(StepOrder(plan).waits(3), (std::vector<int>{2}));
}

TEST(StepOrder, ViewsTakeNoPart) {
  Plan plan = diamond();
  plan.steps[2].tactic.view_of = 0;
  plan.tensors[3].storage = 1;
  assign_streams(plan, 4);
  EXPECT_EQ(stream_count(plan), 1);
  EXPECT_FALSE(StepOrder(plan).before(0, 2));
}

TEST(PlanMemory, BranchesThatRunSideBySideShareNoBytes) {
  // b is dead before c is made, but c may run while b is still read.
  Plan plan = plan_of(6, {{{0}, 1}, {{1}, 2}, {{2}, 3}, {{1}, 4}, {{3, 4}, 5}});
  plan_memory(plan);
  EXPECT_EQ(plan.storages[2].offset, plan.storages[4].offset);
  assign_streams(plan, 2);
  ASSERT_EQ(stream_count(plan), 2);
  plan_memory(plan);
  EXPECT_NE(plan.storages[2].offset, plan.storages[4].offset);
  EXPECT_TRUE(check_memory(plan));
  plan.storages[4].offset = plan.storages[2].offset;
  EXPECT_FALSE(check_memory(plan));
}

// Whether `a` has certainly ended when `b` begins, from the waits alone: the closure over streams'
// order and waits.
std::vector<std::vector<bool>> closure(const Plan& plan, const StepOrder& order) {
  const size_t n = plan.steps.size();
  std::vector<std::vector<bool>> ended(n, std::vector<bool>(n, false));
  std::vector<int> last(kMaxStreams, -1);
  for (size_t i = 0; i < n; ++i) {
    std::vector<int> over = order.waits(i);
    over.push_back(last[static_cast<size_t>(plan.steps[i].stream)]);
    for (int l : over) {
      if (l < 0) continue;
      ended[i][static_cast<size_t>(l)] = true;
      for (size_t k = 0; k < n; ++k) ended[i][k] = ended[i][k] || ended[static_cast<size_t>(l)][k];
    }
    last[static_cast<size_t>(plan.steps[i].stream)] = static_cast<int>(i);
  }
  return ended;
}

TEST(PlanMemory, NeverLetsTwoStepsOfRandomPlansDisturbEachOther) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    std::vector<std::pair<std::vector<int>, int>> steps;
    for (int i = 1; i < 24; ++i) {
      const int reach = std::min(i, 6);
      auto earlier = [&] {
        return i - 1 - static_cast<int>(random() % static_cast<uint64_t>(reach));
      };
      steps.push_back({{earlier(), earlier()}, i});
    }
    Plan plan = plan_of(24, steps);
    plan.storages[0].kind = StorageKind::input;
    for (Storage& s : plan.storages) s.bytes = static_cast<int64_t>(random() % 5000 + 1);
    for (size_t i = 0; i < plan.steps.size(); i += 3) {
      plan.steps[i].workspace = static_cast<int>(plan.storages.size());
      plan.storages.push_back(
          {StorageKind::arena, static_cast<int64_t>(random() % 3000 + 1), 0, 0, 0});
    }
    assign_streams(plan, 2 + static_cast<int>(seed % 3));
    plan_memory(plan);
    ASSERT_TRUE(check_memory(plan));
    const StepOrder order(plan);
    const auto ended = closure(plan, order);
    auto touched = [&](size_t i, bool written_only) {
      std::vector<const Storage*> out;
      const PlanStep& step = plan.steps[i];
      auto add = [&](int storage) { out.push_back(&plan.storages[static_cast<size_t>(storage)]); };
      for (int t : step.outputs) add(t);
      if (step.workspace >= 0) add(step.workspace);
      for (int t : step.inputs) {
        if (!written_only && plan.storages[static_cast<size_t>(t)].kind == StorageKind::arena)
          add(t);
      }
      return out;
    };
    for (size_t a = 0; a < plan.steps.size(); ++a) {
      for (size_t b = a + 1; b < plan.steps.size(); ++b) {
        ASSERT_EQ(order.before(static_cast<int>(a), static_cast<int>(b)), ended[b][a])
            << a << " " << b;
        if (ended[b][a]) continue;  // side by side: neither may write what the other touches
        for (bool first_writes : {true, false}) {
          for (const Storage* x : touched(a, first_writes)) {
            for (const Storage* y : touched(b, !first_writes)) {
              ASSERT_FALSE(x->offset < y->offset + y->bytes && y->offset < x->offset + x->bytes)
                  << a << " " << b;
            }
          }
        }
      }
    }
  }
}

TEST(AssignStreams, KeepsALongPlanOnOneStream) {
  std::vector<std::pair<std::vector<int>, int>> steps(kMaxStepsSideBySide + 1, {{0}, 1});
  for (size_t i = 0; i < steps.size(); ++i) steps[i].second = 1 + static_cast<int>(i % 2);
  Plan plan = plan_of(3, steps);
  assign_streams(plan, 4);
  EXPECT_EQ(stream_count(plan), 1);
}

TEST(AssignStreams, NamesNoMoreThanThereAre) {
  Plan plan = plan_of(13, {{{0}, 1},
                           {{0}, 2},
                           {{0}, 3},
                           {{0}, 4},
                           {{0}, 5},
                           {{0}, 6},
                           {{0}, 7},
                           {{0}, 8},
                           {{0}, 9},
                           {{0}, 10},
                           {{0}, 11},
                           {{0}, 12}});
  assign_streams(plan, 100);
  EXPECT_EQ(stream_count(plan), kMaxStreams);
}

TEST(AssignStreams, ForgetsWhatStoodThereBefore) {
  Plan plan = plan_of(3, {{{0}, 1}, {{1}, 2}});
  plan.steps[0].stream = 5;
  assign_streams(plan, 2);
  EXPECT_EQ(streams_of(plan), (std::vector<int>{0, 0}));
}

TEST(StepOrder, AWaitCoversAllThatTheOtherStreamDidBefore) {
  // 0 and 1 on stream 0, 2 on stream 1 reads what 1 wrote, 3 reads what 0 and 2 wrote.
  Plan plan = plan_of(5, {{{0}, 1}, {{0}, 2}, {{2}, 3}, {{1, 3}, 4}});
  plan.steps[2].stream = plan.steps[3].stream = 1;
  const StepOrder order(plan);
  EXPECT_EQ(order.waits(2), std::vector<int>{1});
  EXPECT_TRUE(order.waits(3).empty()) << "0 ended before 1, which was waited for";
  EXPECT_TRUE(order.before(0, 3));
  EXPECT_TRUE(order.is_awaited(1));
  EXPECT_FALSE(order.is_awaited(0));
}

TEST(StepOrder, TwoWritersOfOneStorageFollowEachOther) {
  Plan plan = plan_of(3, {{{0}, 2}, {{1}, 2}});
  plan.steps[1].stream = 1;
  EXPECT_EQ(StepOrder(plan).waits(1), std::vector<int>{0});
}

TEST(StepOrder, AWorkspaceIsWritten) {
  Plan plan = plan_of(5, {{{0}, 1}, {{0}, 2}});
  plan.steps[0].workspace = plan.steps[1].workspace = 4;
  plan.steps[1].stream = 1;
  EXPECT_EQ(StepOrder(plan).waits(1), std::vector<int>{0});
  EXPECT_EQ(storages_written(plan, plan.steps[0]), (std::set<size_t>{1, 4}));
  EXPECT_EQ(storages_read(plan, plan.steps[0]), std::set<size_t>{0});
}

}  // namespace
}  // namespace enginery
