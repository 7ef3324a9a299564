#include "coordinator/core/pools.h"

#include <gtest/gtest.h>

namespace enginery {
namespace {

const std::string kPool = "sku x";
const std::vector<std::string> kOnly = {kPool};
constexpr Nanoseconds kPresent = std::chrono::seconds(100);

bool any(uint64_t) {
  return true;
}

// Adds the job's only step; it has the job's number.
void add(Pools& pools, uint64_t job, const Share& share, const std::string& pool = kPool) {
  pools.add_job(job, share);
  pools.add(pool, job, {{job, 0}});
}

// Runs the first step of the pools for that long, on the only worker; 0 when there is none.
uint64_t run_first(Pools& pools, double took_s, const std::vector<std::string>& from = kOnly) {
  const auto head = pools.first_of(from, any);
  if (!head) return 0;
  Charge charge = pools.lease(head->place, 1, kPresent);
  pools.charge(charge, took_s, kPresent);
  pools.end(charge);
  return head->place.step;
}

std::vector<uint64_t> run_all(Pools& pools) {
  std::vector<uint64_t> order;
  while (const uint64_t step = run_first(pools, 1)) order.push_back(step);
  return order;
}

TEST(Pools, ClientsTakeTurns) {
  Pools pools;
  for (uint64_t job = 1; job <= 4; ++job) add(pools, job, {"greedy", 0});
  add(pools, 5, {"small", 0});
  add(pools, 6, {"small", 0});
  EXPECT_EQ(run_all(pools), (std::vector<uint64_t>{1, 5, 2, 6, 3, 4}));
}

TEST(Pools, AJobCostsWhatItTakes) {
  Pools pools;
  for (uint64_t job = 1; job <= 3; ++job) add(pools, job, {"long steps", 0});
  for (uint64_t job = 11; job <= 16; ++job) add(pools, job, {"short steps", 0});
  std::vector<uint64_t> order;
  for (int i = 0; i < 8; ++i) {
    const uint64_t first = pools.first_of(kOnly, any)->place.step;
    order.push_back(run_first(pools, first < 10 ? 3.5 : 1));
  }
  EXPECT_EQ(order, (std::vector<uint64_t>{1, 11, 12, 13, 14, 2, 15, 16}));
}

TEST(Pools, AHundredOfPriorityHalvesWhatASecondCosts) {
  Pools pools;
  add(pools, 1, {"high", 100});
  add(pools, 2, {"low", -100});
  EXPECT_EQ(pools.lease({1, 1}, 1, kPresent).weight, 0.5);
  EXPECT_EQ(pools.lease({2, 2}, 1, kPresent).weight, 2);
}

// What a client uses in one pool counts in all others: the clocks of pools are never compared.
TEST(Pools, AClientHasOneClockOverAllPools) {
  Pools pools;
  const std::vector<std::string> b = {"*", "b"};
  for (uint64_t job = 1; job <= 10'000; ++job) {
    add(pools, job, {"of a " + std::to_string(job % 10), 0}, "*");
    run_first(pools, 1, {"*"});
  }
  for (uint64_t job = 10'001; job <= 10'060; ++job) add(pools, job, {"greedy", 0}, "b");
  EXPECT_EQ(run_first(pools, 1, b), 10'001u);
  add(pools, 10'061, {"small", 0}, "*");
  EXPECT_EQ(run_first(pools, 1, b), 10'061u);
}

TEST(Pools, WhatAClientUsesElsewhereCountsAgainstItHere) {
  Pools pools;
  add(pools, 1, {"of a", 0}, "a");
  run_first(pools, 50, {"a"});
  add(pools, 2, {"of a", 0}, "b");
  add(pools, 3, {"new", 0}, "b");
  EXPECT_EQ(run_first(pools, 1, {"b"}), 3u);
}

TEST(Pools, OfOneClientTheOldestJobGoesFirstInWhateverPool) {
  Pools pools;
  add(pools, 2, {"a", 0}, "p");
  add(pools, 1, {"a", 0}, "q");
  const std::vector<std::string> both = {"p", "q"};
  EXPECT_EQ(pools.first_of(both, any)->place, (Place{1, 1}));
  pools.remove(1);
  EXPECT_EQ(pools.first_of(both, any)->place, (Place{2, 2}));
  const std::vector<std::string> none = {"r"};
  EXPECT_FALSE(pools.first_of(none, any));
  EXPECT_EQ(pools.ready_count(), 1u);
}

TEST(Pools, WhatMayNotBeTakenIsPassedOver) {
  Pools pools;
  for (uint64_t job = 1; job <= 3; ++job) add(pools, job, {"a", 0});
  add(pools, 4, {"b", 0});
  const auto first = [&](Pools::MayTake may_take) { return pools.first_of(kOnly, may_take); };
  EXPECT_EQ(first([](uint64_t step) { return step > 1; })->place.step, 2u);
  EXPECT_EQ(first([](uint64_t step) { return step > 3; })->place.step, 4u);
  EXPECT_FALSE(first([](uint64_t) { return false; }));
}

TEST(Pools, AStepOfSeveralClientsComesWithTheFirstOfThem) {
  Pools pools;
  add(pools, 1, {"a", 0});
  run_first(pools, 10);
  add(pools, 2, {"a", 0});
  pools.add_job(3, {"b", 0});
  pools.add(kPool, 9, {{1, 0}, {3, 0}});
  EXPECT_EQ(pools.first_of(kOnly, any)->place, (Place{3, 9}));
  pools.remove(9);
  EXPECT_EQ(pools.first_of(kOnly, any)->place, (Place{2, 2}));
  EXPECT_FALSE(pools.holds(9));
  EXPECT_TRUE(pools.holds(2));
}

TEST(Pools, AGuessIsChargedUntilTheTimeIsKnown) {
  Pools pools;
  for (uint64_t job = 1; job <= 2; ++job) add(pools, job, {"a", 0});
  for (uint64_t job = 11; job <= 12; ++job) add(pools, job, {"b", 0});
  Charge charge = pools.lease(pools.first_of(kOnly, any)->place, 100, kPresent);
  EXPECT_EQ(charge.client, "a");
  EXPECT_EQ(run_first(pools, 50), 11u);  // b has used 50, a is thought to have used 100
  EXPECT_EQ(pools.first_of(kOnly, any)->place.step, 12u);
  pools.charge(charge, 1, kPresent);
  EXPECT_EQ(pools.first_of(kOnly, any)->place.step, 2u);
}

TEST(Pools, WorkersAreFoundByTheirNumbers) {
  Pools pools;
  pools.add_idle(kOnly, 3);
  pools.add_idle(kOnly, 1);
  EXPECT_EQ(pools.idle_from(kPool, 0), 1u);
  EXPECT_EQ(pools.idle_from(kPool, 2), 3u);
  pools.remove_idle(kOnly, 3);
  EXPECT_FALSE(pools.idle_from(kPool, 2));
  EXPECT_FALSE(pools.idle_from("another pool", 0));
  pools.add_serving(kOnly, 3);
  EXPECT_EQ(pools.serving(kPool), std::set<WorkerNo>{3});
  pools.remove_serving(kOnly, 3);
  EXPECT_TRUE(pools.serving(kPool).empty());
  EXPECT_TRUE(pools.serving("another pool").empty());
}

}  // namespace
}  // namespace enginery
