// Shares of a roofline are of what the build measured, and of the data sheet where it did not.
#include "engine/runtime/roofline.h"

#include <gtest/gtest.h>

#include "tests/support/problem_text.h"

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

// A region of integers is not measured by what float arithmetic can do.
TEST(Roofline, AProductOfQuantisedNumbersIsOfIntegers) {
  const auto quantised = parse_problem(
      "dequantize | uint8[1x8x5x5] w:float32[] uint8[1]={0} | then dequantize(w:int8[6x8x3x3] "
      "w:float32[6]) axis=0 | then conv(r0 r1 w:float32[6]) strides=[1,1] dilations=[1,1] "
      "pads_begin=[1,1] pads_end=[1,1] | then act(r2) kind=relu");
  ASSERT_TRUE(quantised.ok()) << quantised.error().message;
  EXPECT_EQ(arithmetic_of(*quantised, Precision::fp32), Precision::int8);
  const auto in_float = parse_problem("act kind=relu | float32[2x3]");
  ASSERT_TRUE(in_float.ok()) << in_float.error().message;
  EXPECT_EQ(arithmetic_of(*in_float, Precision::fp32), Precision::fp32);
  EXPECT_EQ(arithmetic_of(*in_float, Precision::fp16), Precision::fp16);
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
