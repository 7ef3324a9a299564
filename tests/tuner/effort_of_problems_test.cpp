// Problems that matter little to a network are measured with less effort.
#include "tests/tuner/fake_tactics.h"

namespace enginery {
namespace {

using test::Tuning;

// relu takes nearly all of the time by its estimates, tanh nearly none.
struct Unequal : Tuning {
  Unequal() : Tuning({{"k/a", 10.4}, {"k/b", 10.2}, {"k/c", 10}, {"k/d", 9.9}}) {
    for (NetworkNode& node : network.nodes) {
      const bool tanh = std::get<Activation>(node.problem.op).kind == ActivationKind::tanh;
      double us = tanh ? 0.1 : 100;
      for (Tactic& t : node.tactics) t.estimated_us = us *= 1.01;
    }
  }
};

std::set<std::string> measured(Tuning& tuning, const NetworkNode& node) {
  std::set<std::string> out;
  const auto timings = tuning.store.find(device_key(tuning.device.info()), node.problem.key());
  for (const Timing& t : *timings) out.insert(t.tactic.substr(5, 3));
  return out;
}

TEST(EffortOfProblems, IsLessWhereLittleTimeIsSpent) {
  Unequal tuning;
  TunerOptions options;
  std::string log;
  options.log = [&](const std::string& line) { log += line + "\n"; };
  TunerCounts counts;
  const auto chosen = tuning.select(&counts, options);
  ASSERT_TRUE(chosen) << chosen.error().message;
  EXPECT_EQ(measured(tuning, tuning.network.nodes[0]).size(), 4u);
  EXPECT_EQ(measured(tuning, tuning.network.nodes[1]), (std::set<std::string>{"k/a", "k/b"}));
  EXPECT_EQ(counts.timings_measured, 6);
  EXPECT_EQ(chosen->tactics[0].id, "k/d");
  EXPECT_EQ(chosen->tactics[1].id, "k/b");
  EXPECT_NE(log.find("4 of 4 of its kind"), std::string::npos) << log;
  EXPECT_NE(log.find("(0.05 % of the network)"), std::string::npos) << log;
}

// Another level, or another network that has the problem, measures what is missing beside what is
// known, and nothing twice.
TEST(EffortOfProblems, IsMadeUpForLater) {
  Unequal tuning;
  ASSERT_TRUE(tuning.select());
  TunerOptions options;
  options.level = 4;
  TunerCounts counts;
  const auto chosen = tuning.select(&counts, options);
  ASSERT_TRUE(chosen);
  EXPECT_EQ(counts.timings_measured, 2);
  EXPECT_EQ(chosen->tactics[1].id, "k/d");
}

// Samples of the fastest tanh that was timed.
int samples_of_tanh(bool same_share, double scatter = 0) {
  Unequal tuning;
  tuning.device.scatter = scatter;
  tuning.device.places = 4;
  tuning.device.device_info.cache_bytes = 1 << 20;
  for (NetworkNode& node : tuning.network.nodes)
    for (Tactic& t : node.tactics)
      if (same_share) t.estimated_us = 1;
  EXPECT_TRUE(tuning.select());
  const NetworkNode& tanh = tuning.network.nodes[1];
  const auto timings = tuning.store.find(device_key(tuning.device.info()), tanh.problem.key());
  const auto fastest = std::ranges::min_element(
      *timings, {}, [](const Timing& t) { return t.statistics.median_us; });
  return fastest == timings->end() ? 0 : fastest->statistics.samples;
}

TEST(EffortOfProblems, RacesCloseOnesInFewerFixturesAndForFewerRounds) {
  EXPECT_EQ(samples_of_tanh(false), 3 + 8 + 8);
  EXPECT_EQ(samples_of_tanh(true), 4 * (3 + 8 + 24));
}

TEST(EffortOfProblems, RunsFinalistsOnForLessPrecision) {
  EXPECT_EQ(samples_of_tanh(false, 0.025), 3 + 8 + 8);
  EXPECT_EQ(samples_of_tanh(true, 0.025), 3 + 8 + 24 + 80 + 3 * (3 + 8 + 24));
}

}  // namespace
}  // namespace enginery
