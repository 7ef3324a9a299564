// The arena by hand-made plans: how long each storage lives, where it goes, and what check_memory
// refuses. plan_test and streams_test hold random plans to the same rules.
#include "engine/plan/memory.h"

#include <gtest/gtest.h>

namespace enginery {
namespace {

constexpr int64_t kUnit = kArenaAlignment;

// Tensor i is storage i of sizes[i] units; each step reads and writes tensors.
struct StepOf {
  std::vector<int> reads, writes;
};
Plan plan_of(const std::vector<int64_t>& sizes, const std::vector<StepOf>& steps) {
  Plan plan;
  for (size_t i = 0; i < sizes.size(); ++i) {
    plan.storages.push_back({StorageKind::arena, sizes[i] * kUnit, 0, 0, 0});
    plan.tensors.push_back({"t", {}, {}, static_cast<int>(i)});
  }
  for (const StepOf& s : steps) {
    PlanStep step;
    step.inputs = s.reads;
    step.outputs = s.writes;
    plan.steps.push_back(step);
  }
  return plan;
}

std::vector<int64_t> offsets_in_units(const Plan& plan) {
  std::vector<int64_t> out;
  for (const Storage& s : plan.storages) out.push_back(s.offset / kUnit);
  return out;
}

TEST(PlanMemory, AStorageLivesFromItsFirstStepToItsLast) {
  Plan plan = plan_of({1, 1, 1}, {{{0}, {1}}, {{1}, {2}}, {{0, 2}, {1}}});
  plan_memory(plan);
  EXPECT_EQ(plan.storages[0].first_step, 0);
  EXPECT_EQ(plan.storages[0].last_step, 2);
  EXPECT_EQ(plan.storages[2].first_step, 1);
  EXPECT_EQ(plan.storages[2].last_step, 2);
}

TEST(PlanMemory, AnOutputIsReadAfterTheLastStep) {
  Plan plan = plan_of({1, 1, 1}, {{{0}, {1}}, {{0}, {2}}});
  plan.outputs = {1};
  plan_memory(plan);
  EXPECT_EQ(plan.storages[1].last_step, 2);
  EXPECT_NE(plan.storages[1].offset, plan.storages[2].offset);
}

TEST(PlanMemory, AWorkspaceLivesForItsStepAlone) {
  Plan plan = plan_of({1, 1, 1, 4}, {{{0}, {1}}, {{1}, {2}}});
  plan.steps[0].workspace = 3;
  plan_memory(plan);
  EXPECT_EQ(plan.storages[3].first_step, 0);
  EXPECT_EQ(plan.storages[3].last_step, 0);
  EXPECT_EQ(plan.arena_bytes, 6 * kUnit);  // workspace, then 0 and 1; 2 takes the workspace's place
  EXPECT_EQ(plan.storages[2].offset, 0);
}

TEST(PlanMemory, TheLargestGoesFirstAndOthersIntoTheLowestGap) {
  // 2 lives throughout; 0 and 3 never live at once; beside each other all would take 8 units.
  Plan plan = plan_of({2, 1, 3, 2}, {{{0}, {2}}, {{2}, {1}}, {{1, 2}, {3}}});
  plan_memory(plan);
  EXPECT_EQ(offsets_in_units(plan), (std::vector<int64_t>{3, 5, 0, 3}));
  EXPECT_EQ(plan.arena_bytes, 6 * kUnit);
}

TEST(PlanMemory, WhatNoStepTouchesTakesNoBytes) {
  Plan plan = plan_of({1, 1, 100}, {{{0}, {1}}});
  plan_memory(plan);
  EXPECT_EQ(plan.arena_bytes, 2 * kUnit);
  EXPECT_TRUE(check_memory(plan).ok());
}

TEST(PlanMemory, TheCallersMemoryIsNoPartOfTheArena) {
  Plan plan = plan_of({5, 1, 5}, {{{0}, {1}}, {{1}, {2}}});
  plan.storages[0].kind = StorageKind::input;
  plan.storages[2].kind = StorageKind::output;
  plan_memory(plan);
  EXPECT_EQ(plan.arena_bytes, kUnit);
}

TEST(PlanMemory, OneByteTakesAWholeUnit) {
  Plan plan = plan_of({1, 1}, {{{0}, {1}}});
  plan.storages[0].bytes = 1;
  plan.storages[1].bytes = kUnit + 1;
  plan_memory(plan);
  EXPECT_EQ(plan.arena_bytes, 3 * kUnit);
}

TEST(PlanMemory, OfNothingIsNothing) {
  Plan plan;
  plan_memory(plan);
  EXPECT_EQ(plan.arena_bytes, 0);
  EXPECT_TRUE(check_memory(plan).ok());
}

TEST(PlanMemory, PlanningTwiceGivesTheSamePlan) {
  Plan plan = plan_of({2, 1, 3, 2}, {{{0}, {2}}, {{2}, {1}}, {{1, 2}, {3}}});
  plan_memory(plan);
  const std::vector<int64_t> first = offsets_in_units(plan);
  plan_memory(plan);
  EXPECT_EQ(offsets_in_units(plan), first);
}

// Two storages that live at once, the second right behind the first.
Plan neighbours() {
  Plan plan;
  plan.storages = {{StorageKind::arena, 100, 0, 0, 2}, {StorageKind::arena, 50, 100, 1, 3}};
  plan.arena_bytes = 150;
  return plan;
}

std::string problem(const Plan& plan) {
  const Status status = check_memory(plan);
  return status.ok() ? "sound" : status.error().message;
}

TEST(CheckMemory, NeighboursMayTouch) {
  EXPECT_EQ(problem(neighbours()), "sound");
}

TEST(CheckMemory, OneByteInCommonIsAnOverlap) {
  Plan plan = neighbours();
  plan.storages[1].offset = 99;
  EXPECT_EQ(problem(plan), "memory plan: two live storages overlap");
  plan.storages[1].first_step = 3;  // the first is dead by then
  EXPECT_EQ(problem(plan), "sound");
}

TEST(CheckMemory, EveryStorageLiesInTheArena) {
  const std::string outside = "memory plan: a storage lies outside the arena";
  Plan behind = neighbours(), before = neighbours(), negative = neighbours();
  behind.arena_bytes = 149;
  EXPECT_EQ(problem(behind), outside);
  before.storages[0].offset = -1;
  EXPECT_EQ(problem(before), outside);
  negative.storages[0].bytes = -1;
  EXPECT_EQ(problem(negative), outside);
}

TEST(CheckMemory, LeavesOutWhatIsNotTheArenas) {
  Plan plan = neighbours();
  plan.storages[1].offset = 0;
  plan.storages[1].kind = StorageKind::input;
  EXPECT_EQ(problem(plan), "sound");
}

}  // namespace
}  // namespace enginery
