#include "cli/local/bench_measure.h"

#include <gtest/gtest.h>

namespace enginery {
namespace {

TEST(SummarizeLatency, InterpolatesBetweenOrderStatistics) {
  // What NumPy's percentile gives for these samples.
  const LatencySummary five = summarize_latency({50, 10, 40, 20, 30});
  EXPECT_EQ(five.min_ms, 10);
  EXPECT_EQ(five.max_ms, 50);
  EXPECT_EQ(five.mean_ms, 30);
  EXPECT_EQ(five.p25_ms, 20);
  EXPECT_EQ(five.median_ms, 30);
  EXPECT_EQ(five.p75_ms, 40);
  EXPECT_DOUBLE_EQ(five.p90_ms, 46);
  EXPECT_DOUBLE_EQ(five.p95_ms, 48);
  EXPECT_DOUBLE_EQ(five.p99_ms, 49.6);
}

TEST(SummarizeLatency, OfOneSampleIsThatSample) {
  const LatencySummary one = summarize_latency({3});
  for (const double value : {one.min_ms, one.mean_ms, one.p25_ms, one.median_ms, one.p75_ms,
                             one.p90_ms, one.p95_ms, one.p99_ms, one.max_ms})
    EXPECT_EQ(value, 3);
}

TEST(SummarizeLatency, OfNoSampleIsABrokenPromise) {
  EXPECT_DEATH(summarize_latency({}), "no samples");
}

}  // namespace
}  // namespace enginery
