// Which regions change the scale of 8-bit numbers, and between which numbers their results lie.
#include "engine/tactics/shapes/requantized.h"

#include <gtest/gtest.h>

#include "tests/engine/tactics/shapes/problem_of.h"

namespace enginery {
namespace {

Result<Requantized> read_region(const std::string& text) {
  return requantized(problem_of(text));
}

const std::string kOne = "dequantize | int8[2x6] w:float32[] int8[]={-3} | then ";
const std::string kTwo = kOne + "dequantize(uint8[2x6] w:float32[]) axis=1 | then ";

TEST(Requantized, IsReadWithItsZeroPoints) {
  const auto r = read_region(kOne + "quantize(r0 w:float32[] uint8[]={9}) to=uint8");
  ASSERT_TRUE(r.ok()) << r.error().message;
  EXPECT_EQ(r->x.type, DataType::int8);
  EXPECT_EQ((std::vector{r->x.input, r->x.scale, r->result.scale}), (std::vector{0, 1, 3}));
  EXPECT_EQ(r->x.zero, -3);
  EXPECT_EQ(r->result.zero, 9);
  EXPECT_FALSE(r->z || r->bounds);
}

TEST(Requantized, MayBeASumInEitherOrder) {
  for (const char* sum : {"binary(r0 r1) kind=add", "binary(r1 r0) kind=add"}) {
    const auto r = read_region(kTwo + sum + " | then quantize(r2 w:float32[]) to=int8");
    ASSERT_TRUE(r.ok()) << r.error().message;
    ASSERT_TRUE(r->z);
    EXPECT_EQ(r->z->type, DataType::uint8);
    EXPECT_EQ(r->z->input, 3);
  }
}

// A batch normalisation between two roundings.
TEST(Requantized, MayHaveAFactorAndAnAddendForEachChannel) {
  const auto r = read_region(
      "dequantize | uint8[2x6x3x3] w:float32[] | then binary(w:float32[1x6x1x1] r0) kind=mul | "
      "then binary(r1 w:float32[6x1x1]) kind=add | then act(r2) kind=relu | then quantize(r3 "
      "w:float32[]) to=uint8");
  ASSERT_TRUE(r.ok()) << r.error().message;
  EXPECT_EQ((std::vector{r->factors, r->shifts}), (std::vector{2, 3}));
  EXPECT_TRUE(r->bounds);
  EXPECT_FALSE(r->z);
}

struct OtherRegion {
  std::string name, text;
};
const OtherRegion kOtherRegions[] = {
    {"a_float_result", kOne + "act(r0) kind=relu"},
    {"another_activation", kOne + "act(r0) kind=sigmoid | then quantize(r1 w:float32[]) to=int8"},
    {"another_operation", kTwo + "binary(r0 r1) kind=mul | then quantize(r2 w:float32[]) to=int8"},
    {"a_float_operand",
     kOne + "binary(r0 float32[2x6]) kind=add | then quantize(r1 w:float32[]) to=int8"},
    {"sixteen_bits", kOne + "quantize(r0 w:float32[]) to=int16"},
    {"one_factor_for_each_pixel",
     "dequantize | uint8[2x6x3x6] w:float32[] | then binary(r0 w:float32[6]) kind=mul | then "
     "binary(r1 w:float32[6x1x1]) kind=add | then quantize(r2 w:float32[]) to=uint8"},
    {"a_factor_of_run_time",
     "dequantize | uint8[2x6x3x3] w:float32[] | then binary(r0 float32[6x1x1]) kind=mul | then "
     "binary(r1 w:float32[6x1x1]) kind=add | then quantize(r2 w:float32[]) to=uint8"},
    {"scales_by_channel", kOne + "quantize(r0 w:float32[6]) to=int8"},
    {"a_scale_of_run_time", kOne + "quantize(r0 float32[]) to=int8"},
    {"a_broadcast", kOne +
                        "dequantize(uint8[6] w:float32[]) axis=0 | then binary(r0 r1) kind=add | "
                        "then quantize(r2 w:float32[]) to=int8"},
};

void PrintTo(const OtherRegion& row, std::ostream* out) {
  *out << row.name;
}

class NotRequantized : public testing::TestWithParam<OtherRegion> {};

TEST_P(NotRequantized, IsRead) {
  const auto r = read_region(GetParam().text);
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.error().code, ErrorCode::unsupported);
}

INSTANTIATE_TEST_SUITE_P(Regions, NotRequantized, testing::ValuesIn(kOtherRegions),
                         [](const auto& tested) { return tested.param.name; });

TEST(Requantized, HasTheBoundsOfItsTypeAndActivation) {
  Requantized r;
  r.result = {DataType::int8, -1, -1, 5};
  EXPECT_EQ(requantized_bounds(r, 0.5f), (std::pair(-128.0f, 127.0f)));
  r.bounds = Activation{.kind = ActivationKind::relu};
  EXPECT_EQ(requantized_bounds(r, 0.5f), (std::pair(5.0f, 127.0f)));
  r.bounds = Activation{.kind = ActivationKind::clip, .alpha = -1000, .beta = 6};
  EXPECT_EQ(requantized_bounds(r, 0.5f), (std::pair(-128.0f, 17.0f)));
}

}  // namespace
}  // namespace enginery
