// Tactics that take the device with them: each does it once.
#include "tests/tuner/fake_tactics.h"

namespace enginery {
namespace {

using test::Behaviour;
using test::Tuning;

TEST(Tuner, LosesTheDeviceToATacticOnceAndLeavesItAloneThen) {
  for (auto sort : {Behaviour::losing, Behaviour::muddled, Behaviour::late}) {
    Tuning tuning({{"fast", 10}, {"bad", 11, sort}, {"wrong", 1, Behaviour::wrong}});
    EXPECT_EQ(tuning.select_until_it_holds(), 2);  // once for each of the two problems
    auto failures = tuning.failures();
    EXPECT_NE(failures["bad"], "");
    EXPECT_EQ(failures.count("fast"), 0u);
    const auto timings =
        tuning.store.find(device_key(tuning.device.info()), tuning.network.nodes[0].problem.key());
    for (const Timing& t : *timings) {
      if (t.tactic.starts_with("test:bad")) {
        EXPECT_EQ(t.failure_kind, FailureKind::fault);
      }
    }
  }
}

TEST(Tuner, LosesTheDeviceToItsProbeOnce) {
  Tuning tuning({{"bad", 5, Behaviour::losing}, {"fast", 10}});
  EXPECT_EQ(tuning.select_until_it_holds(), 3);  // the probe's problem is a third one
}

TEST(Tuner, LosesTheDeviceToAWholeNetworkOnce) {
  Tuning tuning({{"fast", 10}}, {{"bad", 9.8, Behaviour::in_network}});  // the sums prefer it
  EXPECT_GE(tuning.select_until_it_holds(), 1);
  EXPECT_TRUE(tuning.failures().empty()) << "no tactic is to blame";
  TunerCounts counts;
  ASSERT_TRUE(tuning.select(&counts));
  EXPECT_EQ(counts.timings_measured, 0);
}

TEST(Tuner, DoesNotHoldAFullMemoryAgainstAWholeNetwork) {
  Tuning tuning({{"fast", 10}},
                {{"large", 9.8, Behaviour::full_in_network}});  // the sums prefer it
  auto chosen = tuning.select();
  ASSERT_TRUE(chosen) << chosen.error().message;
  for (const Tactic& t : chosen->tactics) EXPECT_EQ(t.id, "fast");
  TunerCounts again;
  ASSERT_TRUE(tuning.select(&again));
  EXPECT_GT(again.timings_measured, 0) << "there may be room now: it is tried again";
}

TEST(Tuner, DoesNotHoldAFullMemoryAgainstATactic) {
  Tuning tuning({{"fast", 10}, {"large", 1, Behaviour::full}});
  auto chosen = tuning.select();
  ASSERT_TRUE(chosen) << chosen.error().message;
  for (const Tactic& t : chosen->tactics) EXPECT_EQ(t.id, "fast");
  const auto timings =
      tuning.store.find(device_key(tuning.device.info()), tuning.network.nodes[0].problem.key());
  ASSERT_EQ(timings->size(), 1u) << "there may be room another time";
  EXPECT_TRUE(timings->at(0).tactic.starts_with("test:fast"));
  EXPECT_EQ(Tuning({{"large", 1, Behaviour::full}}).select().error().code,
            ErrorCode::out_of_memory);
}

TEST(Tuner, BlamesNoneOfSeveralThatWerePreparedSideBySide) {
  const std::vector<Behaviour> behaviours = {{"fast", 10},
                                             {"bad", 1, Behaviour::unpreparable_losing}};
  Tuning tuning(behaviours);
  EXPECT_EQ(tuning.select().error().code, ErrorCode::device_lost);
  EXPECT_TRUE(tuning.failures().empty());
  TunerOptions alone;
  alone.one_by_one = true;
  EXPECT_EQ(tuning.select_until_it_holds(alone), 2);
  EXPECT_EQ(tuning.failures()["bad"], "illegal address");
}

TEST(Tuner, SaysWhatIsInFlightBeforeItRuns) {
  Tuning tuning({{"fast", 10}, {"bad", 1, Behaviour::losing}});
  std::mutex mutex;
  std::map<std::string, int> open;
  std::string in_flight_when_lost;
  TunerOptions options;
  options.in_flight = [&](const InFlightTactic& t) {
    std::lock_guard lock(mutex);
    EXPECT_EQ(t.device, device_key(tuning.device.info()));
    if (t.over && tuning.device.lost && in_flight_when_lost.empty()) {
      for (const auto& [tactic, count] : open) in_flight_when_lost += count > 0 ? tactic : "";
    }
    open[t.tactic] += t.over ? -1 : 1;
  };
  EXPECT_FALSE(tuning.select(nullptr, options));
  EXPECT_EQ(in_flight_when_lost.substr(0, 8), "test:bad");
  for (const auto& [tactic, count] : open) EXPECT_EQ(count, 0) << tactic;
}

}  // namespace
}  // namespace enginery
