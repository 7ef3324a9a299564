// A problem that two layers have, of which one may run less.
#include "tests/tuner/fake_tactics.h"

namespace enginery {
namespace {

using test::Tuning;

TEST(Tuner, TimesALayerWithPrecisionsOfItsOwnByWhatItIsOffered) {
  Tuning tuning({{"fast", 10}, {"slow", 40}, {"middle", 20}});
  ASSERT_EQ(tuning.network.nodes[0].problem.key(), tuning.network.nodes[2].problem.key());
  NetworkNode& last = tuning.network.nodes[2];
  last.precisions = {Precision::fp32};
  last.tactics.erase(last.tactics.begin());
  TunerCounts counts;
  const auto chosen = tuning.select(&counts);
  ASSERT_TRUE(chosen.ok()) << chosen.error().message;
  EXPECT_EQ(chosen->tactics[0].id, "fast");
  EXPECT_EQ(chosen->tactics[2].id, "middle");
  EXPECT_EQ(counts.timings_measured, 6) << "three for each of two problems, none twice";
}

}  // namespace
}  // namespace enginery
