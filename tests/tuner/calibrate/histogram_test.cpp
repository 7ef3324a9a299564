// A histogram loses nothing by where the data was cut or in which order it came.
#include "tuner/calibrate/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/tuner/calibrate/samples.h"

namespace enginery {
namespace {

using test::histogram_of;
using test::normal_sample;

TEST(Histogram, CountsByMagnitudeInBinsOfAPowerOfTwo) {
  const Histogram h = histogram_of(std::vector<float>{0.0f, -0.0f, 1.0f, -1.5f, 0.25f});
  EXPECT_EQ(h.zeros, 2u);
  EXPECT_EQ(h.count(), 5u);
  EXPECT_EQ(h.least, -1.5f);
  EXPECT_EQ(h.largest, 1.0f);
  EXPECT_EQ(h.bin_width(), 2.0 / Histogram::kBins);
  EXPECT_EQ(h.bins[4096], 1u);
  EXPECT_EQ(h.bins[6144], 1u);
  EXPECT_EQ(h.bins[1024], 1u);
}

TEST(Histogram, UsesMoreThanHalfOfItsBins) {
  for (const float largest : {1.0f, 1.999f, 3e-40f, 3e38f}) {
    const Histogram h = histogram_of(std::vector<float>{largest});
    const auto at = static_cast<size_t>(std::ranges::find(h.bins, 1u) - h.bins.begin());
    EXPECT_GE(at, 4096u) << largest;
    EXPECT_LT(at, 8192u) << largest;
  }
}

// Shards of very different ranges, with zeros alone, with nothing, and with a range that doubles
// more often than there are bins.
std::vector<std::vector<float>> shards() {
  return {normal_sample(1000, 1, 1),
          {0, 0, -0.0f},
          normal_sample(1000, 1e-3f, 2),
          {},
          normal_sample(500, 37, 3),
          {1e-30f, -2e-30f},
          {5e9f}};
}

TEST(Histogram, ShardsInAnyOrderAreBitwiseOnePass) {
  std::vector<float> all;
  std::vector<Histogram> parts;
  for (const std::vector<float>& shard : shards()) {
    all.insert(all.end(), shard.begin(), shard.end());
    parts.push_back(histogram_of(shard));
  }
  const Histogram once = histogram_of(all);
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    std::ranges::shuffle(parts, random);
    Histogram merged;
    for (const Histogram& part : parts) merged.merge(part);
    ASSERT_EQ(merged, once) << "round " << round;
  }
}

TEST(Histogram, BatchesInAnyOrderAreBitwiseOnePass) {
  std::vector<std::vector<float>> batches = shards();
  std::vector<float> all;
  for (const auto& batch : batches) all.insert(all.end(), batch.begin(), batch.end());
  std::ranges::reverse(batches);
  Histogram seen;
  for (const auto& batch : batches) ASSERT_TRUE(seen.observe(batch).ok());
  EXPECT_EQ(seen, histogram_of(all));
}

TEST(Histogram, RefusesWhatIsNotFiniteAndAddsNothing) {
  Histogram h = histogram_of(std::vector<float>{1, 2});
  const Histogram before = h;
  const Status nan = h.observe(std::vector<float>{9, std::nanf("")});
  ASSERT_FALSE(nan.ok());
  EXPECT_EQ(nan.error().message, "NaN at element 1");
  const Status infinite = h.observe(std::vector<float>{-std::numeric_limits<float>::infinity(), 9});
  ASSERT_FALSE(infinite.ok());
  EXPECT_EQ(infinite.error().message, "an infinity at element 0");
  EXPECT_EQ(h, before);
}

TEST(Histogram, KnowsAConstant) {
  EXPECT_TRUE(histogram_of(std::vector<float>{3, 3}).is_constant());
  EXPECT_TRUE(histogram_of(std::vector<float>{0, -0.0f}).is_constant());
  EXPECT_FALSE(histogram_of(std::vector<float>{3, -3}).is_constant());
  EXPECT_FALSE(Histogram().is_constant());
}

}  // namespace
}  // namespace enginery
