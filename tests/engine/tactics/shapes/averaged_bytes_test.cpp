// Which regions are averages of 8-bit numbers, and over which windows.
#include "engine/tactics/shapes/averaged_bytes.h"

#include <gtest/gtest.h>

#include "tests/engine/tactics/shapes/problem_of.h"

namespace enginery {
namespace {

const std::string kDequantizedBytes = "dequantize | uint8[2x8x6x5] w:float32[] uint8[]={9} | then ";
const std::string kAveragedWindows =
    "pool(r0) kind=average kernel=[3,2] strides=[2,1] dilations=[1,1] pads_begin=[1,0] "
    "pads_end=[1,0]";
const std::string kAveragedPlanes = "global_pool(r0) kind=average";

Result<AveragedBytes> read_average(const std::string& text) {
  return averaged_bytes(problem_of(text));
}

TEST(AveragedBytes, AreReadWithScalesAndZeroPoints) {
  const auto r = read_average(kDequantizedBytes + kAveragedWindows +
                              " | then quantize(r1 w:float32[] int8[]={-4}) to=int8");
  ASSERT_TRUE(r.ok()) << r.error().message;
  EXPECT_EQ((std::vector{r->x.input, r->x.scale, r->result->scale}), (std::vector{0, 1, 3}));
  EXPECT_EQ(r->x.zero, 9);
  EXPECT_EQ(r->result->zero, -4);
  EXPECT_EQ(r->result->type, DataType::int8);
  EXPECT_EQ(r->pool.kernel, (std::vector<int64_t>{3, 2}));
}

TEST(AveragedBytes, OfPlanesAreOneWindowAndMayBeFloat) {
  const auto r = read_average(kDequantizedBytes + kAveragedPlanes);
  ASSERT_TRUE(r.ok()) << r.error().message;
  EXPECT_FALSE(r->result);
  EXPECT_EQ(r->pool.kernel, (std::vector<int64_t>{6, 5}));
  EXPECT_EQ(r->pool.pads_end, (std::vector<int64_t>{0, 0}));
}

TEST(AveragedBytes, AreNothingElse) {
  for (const std::string& other : {
           kDequantizedBytes + "global_pool(r0) kind=max | then quantize(r1 w:float32[]) to=int8",
           kDequantizedBytes + kAveragedPlanes + " | then quantize(r1 w:float32[8]) to=int8",
           kDequantizedBytes + kAveragedPlanes + " | then quantize(r1 float32[]) to=int8",
           "dequantize | uint8[1x1x2100x2100] w:float32[] | then " + kAveragedPlanes,
           "dequantize | uint8[2x8x3x3x3] w:float32[] | then " + kAveragedPlanes,
           "dequantize | int8[2x8x6x5] w:float32[8] | then " + kAveragedPlanes,
       }) {
    const auto r = read_average(other);
    ASSERT_FALSE(r.ok()) << other;
    EXPECT_EQ(r.error().code, ErrorCode::unsupported) << other;
  }
}

}  // namespace
}  // namespace enginery
