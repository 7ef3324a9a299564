// Shares of a roofline are of what the build measured, and of the data sheet where it did not.
#include "engine/runtime/roofline.h"

#include <gtest/gtest.h>

namespace enginery {
namespace {

DeviceInfo card() {
  DeviceInfo info;
  info.float32_flops = 1e12;
  info.float16_flops = 8e12;
  info.bytes_per_second = 1e12;
  return info;
}

TEST(Roofline, IsTheSlowerOfArithmeticAndTraffic) {
  const Ceilings ceilings = ceilings_of(card(), {});
  EXPECT_DOUBLE_EQ(roofline_us(4e6, 1e6, Precision::fp32, ceilings), 4);
  EXPECT_DOUBLE_EQ(roofline_us(4e6, 1e6, Precision::fp16, ceilings), 1);
  EXPECT_DOUBLE_EQ(roofline_us(4e6, 1e6, Precision::bf16, ceilings), 1);
  EXPECT_EQ(roofline_us(4e6, 1e6, Precision::tf32, ceilings), 0) << "the card has none";
  EXPECT_EQ(roofline_us(4e6, 1e6, Precision::int8, ceilings), 0);
}

TEST(Roofline, PrefersWhatWasMeasured) {
  const Ceilings ceilings = ceilings_of(
      card(),
      {{"builder", "x"}, {"ceiling.bytes_per_second", "8e11"}, {"ceiling.fp16_flops", "broken"}});
  EXPECT_DOUBLE_EQ(ceilings.bytes_per_second, 8e11);
  EXPECT_DOUBLE_EQ(ceilings.float16_flops, 8e12) << "of the data sheet";
}

// A CPU has no data sheet: what was measured is all there is.
TEST(Roofline, ServesACpuThatWasMeasured) {
  const Ceilings ceilings = ceilings_of(
      DeviceInfo(), {{"ceiling.fp32_flops", "1e11"}, {"ceiling.bytes_per_second", "2e10"}});
  EXPECT_DOUBLE_EQ(roofline_us(1e6, 1e6, Precision::fp32, ceilings), 50);
}

}  // namespace
}  // namespace enginery
