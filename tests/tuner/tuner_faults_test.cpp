// Tactics that take the device with them: each does it once.
#include "tests/tuner/fake_tactics.h"

namespace enginery {
namespace {

using test::Behaviour;
using test::Bench;

TEST(Tuner, LosesTheDeviceToATacticOnceAndLeavesItAloneThen) {
  for (auto sort : {Behaviour::losing, Behaviour::muddled, Behaviour::late}) {
    Bench bench({{"fast", 10}, {"bad", 11, sort}, {"wrong", 1, Behaviour::wrong}});
    EXPECT_EQ(bench.select_until_it_holds(), 2);  // once for each of the two problems
    auto failures = bench.failures();
    EXPECT_NE(failures["bad"], "");
    EXPECT_EQ(failures.count("fast"), 0u);
  }
}

TEST(Tuner, LosesTheDeviceToItsGuardOnce) {
  Bench bench({{"bad", 5, Behaviour::losing}, {"fast", 10}});
  EXPECT_EQ(bench.select_until_it_holds(), 3);  // the guard's problem is a third one
}

TEST(Tuner, LosesTheDeviceToAWholeNetworkOnce) {
  Bench bench({{"fast", 10}}, {{"bad", 9.8, Behaviour::in_network}});  // the sums prefer it
  EXPECT_GE(bench.select_until_it_holds(), 1);
  EXPECT_TRUE(bench.failures().empty()) << "no tactic is to blame";
  TunerCounts counts;
  ASSERT_TRUE(bench.select(&counts));
  EXPECT_EQ(counts.timings_measured, 0);
}

TEST(Tuner, DoesNotHoldAFullMemoryAgainstAWholeNetwork) {
  Bench bench({{"fast", 10}}, {{"large", 9.8, Behaviour::full_in_network}});  // the sums prefer it
  auto chosen = bench.select();
  ASSERT_TRUE(chosen) << chosen.error().message;
  for (const Tactic& t : chosen->tactics) EXPECT_EQ(t.id, "fast");
  TunerCounts again;
  ASSERT_TRUE(bench.select(&again));
  EXPECT_GT(again.timings_measured, 0) << "there may be room now: it is tried again";
}

TEST(Tuner, BlamesNoneOfSeveralThatWerePreparedSideBySide) {
  const std::vector<Behaviour> behaviours = {{"fast", 10},
                                             {"bad", 1, Behaviour::unpreparable_losing}};
  Bench bench(behaviours);
  EXPECT_EQ(bench.select().error().code, ErrorCode::device_lost);
  EXPECT_TRUE(bench.failures().empty());
  TunerOptions alone;
  alone.one_by_one = true;
  EXPECT_EQ(bench.select_until_it_holds(alone), 2);
  EXPECT_EQ(bench.failures()["bad"], "illegal address");
}

TEST(Tuner, SaysWhatIsOnTrialBeforeItRuns) {
  Bench bench({{"fast", 10}, {"bad", 1, Behaviour::losing}});
  std::mutex mutex;
  std::map<std::string, int> open;
  std::string on_trial_when_lost;
  TunerOptions options;
  options.trial = [&](const TacticTrial& t) {
    std::lock_guard lock(mutex);
    EXPECT_EQ(t.device, device_key(bench.device.info()));
    if (t.over && bench.device.lost && on_trial_when_lost.empty()) {
      for (const auto& [tactic, count] : open) on_trial_when_lost += count > 0 ? tactic : "";
    }
    open[t.tactic] += t.over ? -1 : 1;
  };
  EXPECT_FALSE(bench.select(nullptr, options));
  EXPECT_EQ(on_trial_when_lost.substr(0, 8), "test:bad");
  for (const auto& [tactic, count] : open) EXPECT_EQ(count, 0) << tactic;
}

}  // namespace
}  // namespace enginery
