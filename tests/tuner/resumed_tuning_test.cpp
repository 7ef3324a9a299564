// What is measured later is compared with what is known as if all had been measured at once.
#include <gtest/gtest.h>

#include "tests/tuner/planted_tactics.h"

namespace enginery {
namespace {

using test::Planted;
using test::PlantedProblem;

const char* kRelu = "act kind=relu | float32[1x4x8x8]";

Planted planted(const std::string& id, double us) {
  return Planted{id, us};
}

struct Resumed {
  const char* name;
  double state_then, state_now;  // by how many times the device is slow
  double known_us, new_us;
  const char* winner;
};

class ResumedTuning : public testing::TestWithParam<Resumed> {};

// As absolute times each of them would choose the other tactic, or tie with it.
TEST_P(ResumedTuning, ChoosesAsOneWholeTuningWould) {
  const Resumed& r = GetParam();
  PlantedProblem problem(kRelu, {});
  problem.offer({planted("known", r.known_us), planted("slow", 2 * r.known_us)});
  problem.device.slowness = r.state_then;
  ASSERT_EQ(problem.winner(), "known");
  problem.offer(
      {planted("known", r.known_us), planted("slow", 2 * r.known_us), planted("new", r.new_us)});
  problem.device.slowness = r.state_now;
  EXPECT_EQ(problem.winner(), r.winner);
  EXPECT_NEAR(problem.timing("new").statistics.median_us, r.new_us * r.state_then, 1e-9);
  EXPECT_NEAR(problem.timing("known").statistics.median_us, r.known_us * r.state_then, 1e-9)
      << "what is known stays as it was measured";
  EXPECT_EQ(problem.timing("new").probe.us, problem.timing("known").probe.us);
}

INSTANTIATE_TEST_SUITE_P(
    States, ResumedTuning,
    testing::Values(Resumed{"a_slower_device_has_the_faster_tactic", 1, 1.06, 10, 9.6, "new"},
                    Resumed{"a_faster_device_has_the_slower_tactic", 1.06, 1, 10, 10.4, "known"},
                    Resumed{"the_same_state", 1, 1, 10, 9.6, "new"}),
    [](const auto& state) { return std::string(state.param.name); });

// Entries of before the field: their tactics race again as anchors.
TEST(ResumedTuning, RelatesNewTimesToEntriesWithoutTheProbesTime) {
  PlantedProblem problem(kRelu, {});
  problem.offer({planted("known", 10)});
  ASSERT_EQ(problem.winner(), "known");
  Timing old = problem.timing("known");
  old.probe = {};
  ASSERT_TRUE(
      problem.store.put(device_key(problem.device.info()), problem.problem.key(), old).ok());
  problem.offer({planted("known", 10), planted("new", 10.4)});
  problem.device.slowness = 0.9;
  EXPECT_EQ(problem.winner(), "known");
  EXPECT_NEAR(problem.timing("new").statistics.median_us, 10.4, 1e-9);
}

// None of the known tactics runs any more: nothing says how their times relate to those of now.
TEST(ResumedTuning, MeasuresAnewWhereNoAnchorRuns) {
  PlantedProblem problem(kRelu, {});
  bool is_broken = false;
  Planted breaks = planted("breaks", 9);
  breaks.launched = [&]() -> Status {
    return is_broken ? Status(Error{ErrorCode::internal, "launch failed"}) : Status();
  };
  problem.offer({breaks});
  ASSERT_EQ(problem.winner(), "breaks");
  is_broken = true;
  problem.offer({breaks, planted("new", 10)});
  EXPECT_EQ(problem.winner(), "new");
  EXPECT_NE(problem.timing("breaks").failure, "");
  EXPECT_NEAR(problem.timing("new").statistics.median_us, 10, 1e-9);
}

// Two workers that raced the same problem at once leave timings of two races behind.
TEST(ComparableTimes, AreRelatedByTheProbesOfTheirRaces) {
  const auto timing = [](const std::string& tactic, double us, double probe_us) {
    Timing t;
    t.tactic = tactic;
    t.statistics = summarize({us});
    t.probe = {"probe", probe_us};
    return t;
  };
  const std::vector<Timing> timings = {timing("a", 10, 50), timing("b", 10.3, 53)};
  const std::vector<double> us = comparable_us(timings);
  EXPECT_DOUBLE_EQ(us[0], 10);
  EXPECT_NEAR(us[1], 10.3 * 50 / 53, 1e-9) << "its device was slower";
  const ProbeTime probe = common_probe(timings);
  EXPECT_FALSE(is_unrelated(timings[1], probe));
  EXPECT_TRUE(is_unrelated(timing("old", 1, 0), probe));
  EXPECT_FALSE(is_unrelated(timing("old", 1, 0), {})) << "all are old";
  Timing other = timing("other", 1, 50);
  other.probe.tactic = "another";
  EXPECT_TRUE(is_unrelated(other, probe)) << "beside another probe";
}

TEST(DecidingTimes, AreInProportionWhereSomeAreCold) {
  EXPECT_EQ(deciding_us({10, 11, kInfinity}, {0, 0, 0}), (std::vector<double>{10, 11, kInfinity}));
  EXPECT_EQ(deciding_us({10, 12, 20, kInfinity}, {15, 0, 30, 0}),
            (std::vector<double>{15, 18, 30, kInfinity}));
}

TEST(DecidingTimes, AreTheWarmOnesWhereTheColdOnesDifferNoMoreThanLabsDo) {
  const auto near = deciding_us({10, 10.2, 10.4}, {20.6, 20.4, 20.0});
  EXPECT_EQ(near, (std::vector<double>{20, 20.4, 20.8})) << "twice the warm ones";
  const auto far = deciding_us({10, 10.2, 10.4}, {23.1, 20.4, 20.8});
  EXPECT_NEAR(far[0], 22, 1e-9) << "by 5 % less than it was measured";
  EXPECT_NEAR(far[1], 20.4, 1e-9);
}

// In warm caches one tactic wins, behind other layers the other one.
TEST(ColdTimes, DecideAmongTheClosest) {
  PlantedProblem problem(kRelu, {});
  Planted warm = planted("warm", 9.8);
  warm.cold_us = 14;
  problem.offer({warm, planted("steady", 10)});
  ASSERT_EQ(problem.winner(), "warm") << "the device takes no cold times";
  PlantedProblem in_context(kRelu, {});
  in_context.offer({warm, planted("steady", 10), planted("far", 13)});
  in_context.device.sweep = 1 << 16;
  EXPECT_EQ(in_context.winner(), "steady");
  EXPECT_NEAR(in_context.timing("warm").cold_us, 14, 1e-6) << "without the sweep's own time";
  EXPECT_NEAR(in_context.timing("warm").statistics.median_us, 9.8, 1e-9);
  EXPECT_NEAR(in_context.timing("steady").cold_us, 10, 1e-6);
  EXPECT_EQ(in_context.timing("far").cold_us, 0) << "it cannot win";
}

TEST(ColdTimes, AreNotTakenWhereOneTacticIsFarAhead) {
  PlantedProblem problem(kRelu, {});
  problem.offer({planted("fast", 5), planted("slow", 10)});
  problem.device.sweep = 1 << 16;
  EXPECT_EQ(problem.winner(), "fast");
  EXPECT_EQ(problem.timing("fast").cold_us, 0);
}

}  // namespace
}  // namespace enginery
