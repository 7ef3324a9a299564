// What the farm is asked for: each problem once, when the tuner comes to it.
#include "worker/timing/farm_timing_store.h"

#include <gtest/gtest.h>

#include "pipeline/keys.h"

namespace enginery {
namespace {

Timing timing_of(const std::string& tactic) {
  Timing timing;
  timing.tactic = tactic;
  return timing;
}

TEST(FarmTimingStore, AsksForEachProblemOnce) {
  const Digest conv = timing_problem_key("conv").digest();
  std::vector<Digest> asked;
  FarmTimingStore store(
      [&](const Digest& device, const Digest& problem) {
        EXPECT_EQ(device, timing_device_key("p4").digest());
        asked.push_back(problem);
        std::vector<TimingEntry> known;
        if (problem == conv) known.push_back({device, problem, "a", to_json(timing_of("a")), 1});
        return known;
      },
      [](const RunnerTiming&) {});
  for (int repeats = 0; repeats < 2; ++repeats) {
    EXPECT_EQ(store.find("p4", "conv")->size(), 1u);
    EXPECT_TRUE(store.find("p4", "gemm")->empty());
  }
  ASSERT_TRUE(store.put("p4", "conv", timing_of("b")).ok());
  EXPECT_EQ(store.find("p4", "conv")->size(), 2u);
  EXPECT_EQ(asked, (std::vector<Digest>{conv, timing_problem_key("gemm").digest()}));
}

// Others measure meanwhile; what was measured here stays.
TEST(FarmTimingStore, AsksAgainOnceTheWorkIsShared) {
  int asked = 0;
  int sharers = 1;
  FarmTimingStore store(
      [&](const Digest& device, const Digest& problem) {
        std::vector<TimingEntry> known;
        if (++asked > 1) {
          Timing farms = timing_of("b");
          farms.failure = "of another worker";
          for (const Timing& t : {timing_of("a"), farms})
            known.push_back({device, problem, t.tactic, to_json(t), 1});
        }
        return known;
      },
      [](const RunnerTiming&) {},
      [&](const Digest& problem, int left) {
        EXPECT_EQ(problem, timing_problem_key("conv").digest());
        EXPECT_EQ(left, 5);
        return Taking{true, sharers};
      });
  EXPECT_TRUE(store.find("p4", "conv")->empty());
  EXPECT_TRUE(store.take("p4", "conv", 5)->taken);
  EXPECT_TRUE(store.find("p4", "conv")->empty()) << "nobody shares the work";
  EXPECT_EQ(asked, 1);
  ASSERT_TRUE(store.put("p4", "conv", timing_of("b")).ok());
  sharers = 2;
  ASSERT_TRUE(store.take("p4", "conv", 5).ok());
  const auto found = store.find("p4", "conv");
  ASSERT_EQ(found->size(), 2u);
  for (const Timing& t : *found) EXPECT_EQ(t.failure, "") << t.tactic;
}

}  // namespace
}  // namespace enginery
