// What the measurements of one tuning share.
#include "tuner/measuring_context.h"

#include "tests/tuner/fake_tactics.h"

namespace enginery {
namespace {

using test::Tuning;

// Weights of a race are as many copies as push each other out of the caches. The probe is timed
// twice a round, and only ever compared with itself: four of them are enough.
TEST(MeasuringContext, ProbesWithFewLaunches) {
  Tuning tuning({{.id = "k", .us = 100, .weight_bytes = 1 << 20}});
  tuning.device.device_info.cache_bytes = 64 << 20;
  const TunerOptions options;
  TunerCounts counts;
  MeasuringContext context(tuning.device, tuning.sources, tuning.store, options, counts);
  const auto probe = context.probe();
  ASSERT_TRUE(probe.ok()) << probe.error().message;
  EXPECT_EQ(probe->launches, 4);
  const auto us = probe->time_us();
  ASSERT_TRUE(us.ok());
  EXPECT_NEAR(*us, 100, 1e-9);
}

}  // namespace
}  // namespace enginery
