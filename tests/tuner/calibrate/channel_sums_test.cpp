// Sums of channels: means of planes, the same for shards in any order, and nothing beyond the
// limits.
#include "tuner/calibrate/channel_sums.h"

#include <gtest/gtest.h>

#include "tests/tuner/calibrate/samples.h"

namespace enginery {
namespace {

TEST(ChannelSums, AreMeansOfPlanes) {
  ChannelSums sums;
  EXPECT_TRUE(sums.means().empty());
  sums.observe(std::vector<float>{1, 3, -2, -4, 5, 7, 0, 0}, 2, 2);
  EXPECT_EQ(sums.rows, 2u);
  EXPECT_EQ(sums.means(), (std::vector<float>{4, -1.5f}));
}

TEST(ChannelSums, OfShardsInAnyOrderAreThoseOfOnePass) {
  const std::vector<float> all = test::normal_sample(6 * 3 * 5, 1, 3);
  const std::span<const float> rows(all);
  ChannelSums one, a, b;
  one.observe(rows, 3, 5);
  a.observe(rows.first(15), 3, 5);
  b.observe(rows.subspan(15), 3, 5);
  ChannelSums ab, ba;
  for (const ChannelSums* shard : {&a, &b}) ab.merge(*shard);
  for (const ChannelSums* shard : {&b, &a}) ba.merge(*shard);
  EXPECT_EQ(ab, one);
  EXPECT_EQ(ba, one);
}

TEST(ChannelSums, SayNothingBeyondTheirLimits) {
  ChannelSums large, small, merged;
  large.observe(std::vector<float>{1, 1e6f}, 2, 1);
  small.observe(std::vector<float>{1, 1}, 2, 1);
  EXPECT_TRUE(large.means().empty());
  merged.merge(small);
  merged.merge(large);
  large.merge(small);
  EXPECT_EQ(merged, large);
  EXPECT_TRUE(large.means().empty());
  small.rows = ChannelSums::kRowsBeyond - 1;
  small.observe(std::vector<float>{1, 1}, 2, 1);
  EXPECT_TRUE(small.means().empty());
}

}  // namespace
}  // namespace enginery
