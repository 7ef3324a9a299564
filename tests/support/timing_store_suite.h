// What every TimingStore promises, as one suite. Include it in a test program and instantiate it:
//
//   INSTANTIATE_TEST_SUITE_P(Memory, TimingStoreTest, testing::Values(...), timing_store_name);
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/timing_of.h"
#include "tuner/timing/read_only_store.h"
#include "tuner/timing/timing.h"

namespace enginery::test {

// An implementation with what it needs to live: a folder, a peer.
class TimingStoreUnderTest {
 public:
  virtual ~TimingStoreUnderTest() = default;
  virtual TimingStore& store() = 0;
};

struct TimingStoreCase {
  std::string name;
  std::function<std::unique_ptr<TimingStoreUnderTest>()> make;
};

inline std::string timing_store_name(const testing::TestParamInfo<TimingStoreCase>& tested) {
  return tested.param.name;
}

inline void PrintTo(const TimingStoreCase& tested, std::ostream* out) {
  *out << tested.name;
}

class TimingStoreTest : public testing::TestWithParam<TimingStoreCase> {
 protected:
  // Tactics of what the store has, sorted.
  std::vector<std::string> tactics(const std::string& device, const std::string& problem) {
    const auto found = store().find(device, problem);
    EXPECT_TRUE(found.ok());
    std::vector<std::string> out;
    if (!found.ok()) return out;
    for (const Timing& t : *found) out.push_back(t.tactic);
    std::sort(out.begin(), out.end());
    return out;
  }
  TimingStore& store() { return tested_->store(); }

  const std::unique_ptr<TimingStoreUnderTest> tested_ = GetParam().make();
};

TEST_P(TimingStoreTest, HasNothingOfAProblemThatItNeverMet) {
  EXPECT_TRUE(tactics("sku=x\n", "conv |").empty());
}

TEST_P(TimingStoreTest, FindsWhatWasPutByDeviceAndProblem) {
  ASSERT_TRUE(store().put("sku=x\n", "conv |", timing_of("a", 1)).ok());
  ASSERT_TRUE(store().put("sku=x\n", "conv |", timing_of("b", 2)).ok());
  ASSERT_TRUE(store().put("sku=x\n", "act |", timing_of("c", 3)).ok());
  ASSERT_TRUE(store().put("sku=y\n", "conv |", timing_of("d", 4)).ok());
  EXPECT_EQ(tactics("sku=x\n", "conv |"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(tactics("sku=x\n", "act |"), (std::vector<std::string>{"c"}));
  EXPECT_EQ(tactics("sku=y\n", "conv |"), (std::vector<std::string>{"d"}));
  EXPECT_TRUE(tactics("sku=y\n", "act |").empty());
}

TEST_P(TimingStoreTest, GivesBackEveryField) {
  const Timing put = timing_of("a", 7);
  ASSERT_TRUE(store().put("sku=x\n", "conv |", put).ok());
  const auto found = store().find("sku=x\n", "conv |");
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found->size(), 1u);
  EXPECT_EQ(to_json(found->at(0)), to_json(put));
}

TEST_P(TimingStoreTest, KeepsFailuresWithTheirKind) {
  Timing failed = timing_of("a", 7);
  failed.statistics = {};
  failed.failure = "wrote outside its buffer (red zone)";
  failed.failure_kind = FailureKind::red_zone;
  ASSERT_TRUE(store().put("sku=x\n", "conv |", failed).ok());
  const auto found = store().find("sku=x\n", "conv |");
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found->size(), 1u);
  EXPECT_EQ(found->at(0).failure, failed.failure);
  EXPECT_EQ(found->at(0).failure_kind, FailureKind::red_zone);
}

TEST_P(TimingStoreTest, KeepsTheLaterTimingOfATactic) {
  ASSERT_TRUE(store().put("sku=x\n", "conv |", timing_of("a", 7, 1000)).ok());
  ASSERT_TRUE(store().put("sku=x\n", "conv |", timing_of("a", 9, 2000)).ok());
  const auto found = store().find("sku=x\n", "conv |");
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found->size(), 1u);
  EXPECT_EQ(found->at(0).unix_seconds, 2000);
}

TEST_P(TimingStoreTest, LetsAnythingBeMeasured) {
  EXPECT_TRUE(store().admit_miss("sku=x\n", "conv |", "a").ok());
}

TEST_P(TimingStoreTest, ServesReadersThatMayNotMeasure) {
  ASSERT_TRUE(store().put("sku=x\n", "conv |", timing_of("a", 7)).ok());
  ReadOnlyTimingStore read_only(store());
  EXPECT_EQ(read_only.find("sku=x\n", "conv |")->size(), 1u);
  const Status miss = read_only.admit_miss("sku=x\n", "conv |", "b");
  ASSERT_FALSE(miss.ok());
  EXPECT_EQ(miss.error().code, ErrorCode::not_found);
  EXPECT_EQ(read_only.put("sku=x\n", "conv |", timing_of("b", 7)).error().code,
            ErrorCode::not_found);
  EXPECT_EQ(tactics("sku=x\n", "conv |"), (std::vector<std::string>{"a"}));
}

TEST_P(TimingStoreTest, MayBeUsedFromSeveralThreads) {
  std::vector<std::thread> threads;
  for (int n = 0; n < 4; ++n) {
    threads.emplace_back([this, n] {
      for (int i = 0; i < 8; ++i) {
        const std::string tactic = std::to_string(n) + "-" + std::to_string(i);
        EXPECT_TRUE(store().put("sku=x\n", "conv |", timing_of(tactic, 1)).ok());
        EXPECT_TRUE(store().find("sku=x\n", "conv |").ok());
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(tactics("sku=x\n", "conv |").size(), 32u);
}

}  // namespace enginery::test
