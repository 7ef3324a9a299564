// Which regions are products of quantised numbers, and what their constants say.
#include "engine/tactics/shapes/quantized_product.h"

#include <gtest/gtest.h>

#include "tests/engine/tactics/shapes/problem_of.h"

namespace enginery {
namespace {

// A convolution with one thing replaced by another.
Result<QuantizedProduct> read_with(const std::string& what, const std::string& by) {
  std::string text =
      "dequantize | uint8[1x8x5x5] w:float32[] uint8[1]={0} | then dequantize(w:int8[6x8x3x3] "
      "w:float32[6]) axis=0 | then conv(r0 r1 w:float32[6]) strides=[1,1] dilations=[1,1] "
      "pads_begin=[1,1] pads_end=[1,1] | then act(r2) kind=relu | then quantize(r3 w:float32[]) "
      "to=uint8";
  const size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  text.replace(at, what.size(), by);
  return quantized_product(problem_of(text));
}

TEST(QuantizedProduct, IsReadFromItsOperators) {
  const auto q = read_with("uint8", "uint8");
  ASSERT_TRUE(q.ok()) << q.error().message;
  EXPECT_EQ(q->source, DataType::uint8);
  EXPECT_EQ(q->result, DataType::uint8);
  EXPECT_EQ(q->channels, 6);
  EXPECT_TRUE(q->activation && q->activation->kind == ActivationKind::relu);
  EXPECT_EQ((std::vector{q->source_scale, q->weights, q->weight_scale, q->bias, q->result_scale}),
            (std::vector{1, 3, 4, 5, 6}));
  EXPECT_TRUE(q->product.inputs[1].constant);
}

struct RefusedRegion {
  std::string name, what, by;
};
const RefusedRegion kRefusedRegions[] = {
    {"zero_points_that_differ", "w:float32[6]) axis=0",
     "w:float32[6] int8[6]={0,0,1,0,0,0}) axis=0"},
    {"a_zero_point_of_run_time", "uint8[1]={0}", "uint8[1]"},
    {"weights_of_uint8", "w:int8[6x8x3x3]", "w:uint8[6x8x3x3]"},
    {"weights_of_run_time", "w:int8[6x8x3x3]", "int8[6x8x3x3]"},
    {"scales_along_inputs", "w:int8[6x8x3x3] w:float32[6]) axis=0",
     "w:int8[6x8x3x3] w:float32[8]) axis=1"},
    {"a_scale_of_run_time", "w:float32[] uint8[1]", "float32[] uint8[1]"},
    {"a_bias_of_run_time", "conv(r0 r1 w:float32[6])", "conv(r0 r1 float32[6])"},
    {"sixteen_bits_of_result", "to=uint8", "to=int16"},
    {"operators_behind_it", "to=uint8", "to=uint8 | then dequantize(r4 w:float32[])"},
};

void PrintTo(const RefusedRegion& row, std::ostream* out) {
  *out << row.name;
}

class NoQuantizedProduct : public testing::TestWithParam<RefusedRegion> {};

TEST_P(NoQuantizedProduct, IsRead) {
  const auto q = read_with(GetParam().what, GetParam().by);
  ASSERT_FALSE(q.ok());
  EXPECT_EQ(q.error().code, ErrorCode::unsupported);
}

INSTANTIATE_TEST_SUITE_P(Regions, NoQuantizedProduct, testing::ValuesIn(kRefusedRegions),
                         [](const auto& tested) { return tested.param.name; });

// A convolution whose result is added to, in either order of operands.
Result<QuantizedProduct> read_with_addend(const std::string& sum) {
  const auto p = parse_problem(
      "dequantize | int8[1x8x5x5] w:float32[] | then dequantize(w:int8[6x8x1x1] w:float32[6]) "
      "axis=0 | then conv(r0 r1) strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | "
      "then " +
      sum + " | then act(r3) kind=relu");
  EXPECT_TRUE(p.ok()) << p.error().message;
  return quantized_product(*p);
}

TEST(QuantizedProduct, TakesAnAddendOfItsSize) {
  for (const char* sum :
       {"binary(r2 float32[1x6x5x5]) kind=add", "binary(float32[1x6x5x5] r2) kind=add"}) {
    const auto q = read_with_addend(sum);
    ASSERT_TRUE(q.ok()) << sum << ": " << q.error().message;
    EXPECT_EQ(q->addend, 4);
    EXPECT_TRUE(q->activation.has_value());
  }
  for (const char* other :
       {"binary(r2 float32[1x6x5x5]) kind=mul", "binary(r2 float32[1x6x1x1]) kind=add",
        "binary(r2 w:float32[1x6x5x5]) kind=add", "binary(r2 r2) kind=add"})
    EXPECT_FALSE(read_with_addend(other).ok()) << other;
}

// What is added may have 8 bits and a scale of its own.
TEST(QuantizedProduct, TakesAnAddendOfEightBits) {
  const auto p = parse_problem(
      "dequantize | uint8[1x8x5x5] w:float32[] uint8[]={5} | then dequantize(w:int8[6x8x1x1] "
      "w:float32[6]) axis=0 | then conv(r0 r1) strides=[1,1] dilations=[1,1] pads_begin=[0,0] "
      "pads_end=[0,0] | then dequantize(int8[1x6x5x5] w:float32[] int8[]={-4}) axis=1 | then "
      "binary(r3 r2) kind=add | then quantize(r4 w:float32[] uint8[]={7}) to=uint8");
  ASSERT_TRUE(p.ok()) << p.error().message;
  const auto q = quantized_product(*p);
  ASSERT_TRUE(q.ok()) << q.error().message;
  EXPECT_EQ((std::vector{q->addend, q->addend_scale, q->result_scale}), (std::vector{5, 6, 8}));
  EXPECT_EQ((std::vector{q->source_zero, q->addend_zero, q->result_zero}),
            (std::vector<int64_t>{5, -4, 7}));
  EXPECT_EQ(q->addend_type, DataType::int8);
  EXPECT_FALSE(is_symmetric(*q));
}

TEST(QuantizedProduct, IsSymmetricWithoutZeroPoints) {
  const auto plain = read_with("uint8[1]={0}", "uint8[1]={0}");
  ASSERT_TRUE(plain.ok()) << plain.error().message;
  EXPECT_TRUE(is_symmetric(*plain));
  const auto offset = read_with("uint8[1]={0}", "uint8[1]={128}");
  ASSERT_TRUE(offset.ok()) << offset.error().message;
  EXPECT_EQ(offset->source_zero, 128);
  EXPECT_FALSE(is_symmetric(*offset));
}

// 65,536 products of 127 and 255 are below 2^31; more may not be.
TEST(QuantizedProduct, HasNoMoreTermsThanItsSumsHold) {
  for (const auto& [k, fits] : {std::pair(65536, true), std::pair(65537, false)}) {
    const std::string size = std::to_string(k);
    const auto p =
        parse_problem("dequantize | uint8[2x" + size + "] w:float32[] | then dequantize(w:int8[" +
                      size + "x4] w:float32[1]) axis=1 | then matmul(r0 r1)");
    ASSERT_TRUE(p.ok()) << p.error().message;
    EXPECT_EQ(quantized_product(*p).ok(), fits) << k;
  }
}

TEST(QuantizedProduct, HasScalesOfItsSums) {
  const auto q = read_with("w:float32[6]) axis=0", "w:float32[1]) axis=0");
  ASSERT_TRUE(q.ok()) << q.error().message;
  const Tensor x = Tensor::of<float>({}, {0.5f}), w = Tensor::of<float>({1}, {4}),
               y = Tensor::of<float>({}, {8});
  const std::vector<const Tensor*> weights{nullptr, &x, nullptr, nullptr, &w, nullptr, &y};
  const QuantizedScales scales = quantized_scales(*q, weights);
  EXPECT_EQ(scales.sums, std::vector<float>(6, 2));
  EXPECT_EQ(scales.result, 8);
}

}  // namespace
}  // namespace enginery
