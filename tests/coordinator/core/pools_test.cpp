#include "coordinator/core/pools.h"

#include <gtest/gtest.h>

namespace enginery {
namespace {

const std::string kPool = "sku x";

// Adds the job's only step at its fair place; the step has the job's number.
double add(Pools& pools, uint64_t job, const Share& share, const std::string& pool = kPool) {
  pools.add_job(job, share);
  const double start = pools.start_of(job, pool);
  pools.add(pool, {start, job, job});
  return start;
}

// Leases everything, in order.
std::vector<uint64_t> drain(Pools& pools) {
  std::vector<uint64_t> order;
  const std::vector<std::string> from = {kPool};
  while (const auto first = pools.first_of(from)) {
    order.push_back(first->step);
    pools.lease(kPool, *first);
  }
  return order;
}

TEST(Pools, ClientsTakeTurns) {
  Pools pools;
  for (uint64_t job = 1; job <= 4; ++job) add(pools, job, {"greedy", 0});
  add(pools, 5, {"small", 0});
  add(pools, 6, {"small", 0});
  EXPECT_EQ(drain(pools), (std::vector<uint64_t>{1, 5, 2, 6, 3, 4}));
}

TEST(Pools, AHundredOfPriorityHalvesWhatAJobCosts) {
  Pools pools;
  EXPECT_EQ(add(pools, 1, {"high", 100}), 0);
  EXPECT_EQ(add(pools, 2, {"high", 100}), 0.5);
  EXPECT_EQ(add(pools, 3, {"low", -100}), 0);
  EXPECT_EQ(add(pools, 4, {"low", -100}), 2);
}

TEST(Pools, AJobIsChargedOnceAPool) {
  Pools pools;
  pools.add_job(1, {"a", 0});
  EXPECT_EQ(pools.start_of(1, kPool), 0);
  EXPECT_EQ(pools.start_of(1, kPool), 0);
  EXPECT_EQ(add(pools, 2, {"a", 0}), 1);
  EXPECT_EQ(pools.start_of(1, "another pool"), 0);
}

TEST(Pools, AClientThatWasIdleBeginsNow) {
  Pools pools;
  for (uint64_t job = 1; job <= 5; ++job) add(pools, job, {"busy", 0});
  drain(pools);
  EXPECT_EQ(add(pools, 6, {"new", 0}), 4);  // not before what was leased last
}

TEST(Pools, TheFirstOfSeveralPoolsIsTheFairest) {
  Pools pools;
  add(pools, 1, {"a", 0}, "p");
  add(pools, 2, {"a", 0}, "p");
  add(pools, 3, {"a", 0}, "q");
  const std::vector<std::string> both = {"q", "p"}, none = {"r"};
  EXPECT_EQ(pools.first_of(both)->step, 1u);
  pools.remove("p", {0, 1, 1});
  EXPECT_EQ(pools.first_of(both)->step, 3u);
  EXPECT_FALSE(pools.first_of(none));
  EXPECT_EQ(pools.ready_count(), 2u);
}

TEST(Pools, IdleWorkersAreFoundByTheirNumbers) {
  Pools pools;
  const std::vector<std::string> names = {kPool};
  pools.add_idle(names, 3);
  pools.add_idle(names, 1);
  EXPECT_EQ(pools.idle_from(kPool, 0), 1u);
  EXPECT_EQ(pools.idle_from(kPool, 2), 3u);
  pools.remove_idle(names, 3);
  EXPECT_FALSE(pools.idle_from(kPool, 2));
  EXPECT_FALSE(pools.idle_from("another pool", 0));
}

}  // namespace
}  // namespace enginery
