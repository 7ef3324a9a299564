// Which regions are convolutions with a max pooling behind them.
#include "engine/tactics/shapes/pooled_conv.h"

#include <gtest/gtest.h>

#include "tests/engine/tactics/shapes/problem_of.h"

namespace enginery {
namespace {

// A convolution with its pooling, with one thing replaced by another.
Result<PooledConv> pooled_with(const std::string& what, const std::string& by) {
  std::string text =
      "conv strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] | float32[1x3x8x8] "
      "w:float32[6x3x3x3] w:float32[6] | then act(r0) kind=relu | then pool(r1) kind=max "
      "kernel=[2,2] strides=[2,2] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0]";
  const size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  text.replace(at, what.size(), by);
  return pooled_conv(problem_of(text));
}

TEST(PooledConv, IsAConvolutionWithItsEpilogueAndAPooling) {
  const auto pooled = pooled_with("relu", "relu");
  ASSERT_TRUE(pooled.ok()) << pooled.error().message;
  EXPECT_FALSE(is_region(pooled->conv));
  EXPECT_EQ(pooled->conv.key(),
            "conv strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] groups=1 | "
            "float32[1x3x8x8] w:float32[6x3x3x3] w:float32[6] -> float32[1x6x8x8] | act kind=relu "
            "alpha=0 beta=0");
  EXPECT_EQ(pooled->pool.kernel, (std::vector<int64_t>{2, 2}));
}

TEST(PooledConv, KeepsAProductOfQuantisedNumbersARegion) {
  const auto p = parse_problem(
      "dequantize | int8[1x3x8x8] w:float32[] | then dequantize(w:int8[6x3x3x3] w:float32[6]) "
      "axis=0 | then conv(r0 r1) strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] | "
      "then quantize(r2 w:float32[]) to=uint8 | then pool(r3) kind=max kernel=[2,2] strides=[2,2] "
      "dilations=[1,1] pads_begin=[0,0] pads_end=[0,0]");
  ASSERT_TRUE(p.ok()) << p.error().message;
  const auto pooled = pooled_conv(*p);
  ASSERT_TRUE(pooled.ok()) << pooled.error().message;
  EXPECT_EQ(operator_names(pooled->conv), "dequantize+dequantize+conv+quantize");
  EXPECT_EQ(pooled->conv.outputs[0].type, (TensorType{DataType::uint8, {1, 6, 8, 8}}));
  EXPECT_EQ(pooled->conv.inner.size(), pooled->conv.rest.size());
}

// The picture's quantisation with its scale, one thing replaced by another.
Result<PooledConv> picture_with(const std::string& what, const std::string& by) {
  std::string text =
      "quantize to=int8 | float32[1x3x8x8] w:float32[] int8[]={0} | then dequantize(r0 w:float32[] "
      "int8[]={0}) | then dequantize(w:int8[6x3x3x3] w:float32[6]) axis=0 | then conv(r1 r2) "
      "strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] | then quantize(r3 "
      "w:float32[]) to=uint8 | then pool(r4) kind=max kernel=[2,2] strides=[2,2] dilations=[1,1] "
      "pads_begin=[0,0] pads_end=[0,0]";
  text.replace(text.find(what), what.size(), by);
  return pooled_conv(problem_of(text));
}

TEST(PooledConv, TakesTheQuantisationOfItsPictureApart) {
  const auto pooled = picture_with("int8", "int8");
  ASSERT_TRUE(pooled.ok()) << pooled.error().message;
  ASSERT_TRUE(pooled->quantize.has_value());
  EXPECT_EQ(operator_names(*pooled->quantize), "quantize");
  const Problem& conv = pooled->conv;
  EXPECT_EQ(operator_names(conv), "dequantize+dequantize+conv+quantize");
  EXPECT_EQ(conv.inputs[0].type, (TensorType{DataType::int8, {1, 3, 8, 8}}));
  EXPECT_FALSE(conv.inputs[0].constant);
  // Its own three inputs, then all of the region's.
  EXPECT_EQ(pooled->from, (std::vector<int>{-1, 3, 4, 0, 1, 2, 3, 4, 5, 6, 7}));
  ASSERT_EQ(conv.rest.size(), 3u);
  EXPECT_EQ(conv.rest[0].operands, (std::vector<int>{8, 9}));
  EXPECT_EQ(conv.rest[1].operands, (std::vector<int>{11, 12}));
  EXPECT_EQ(conv.rest[2].operands, (std::vector<int>{13, 10}));
}

TEST(PooledConv, NeedsAPictureQuantisedByOneScaleAndNoZeroPoint) {
  EXPECT_FALSE(
      picture_with("float32[] int8[]={0} | then", "float32[3] int8[3]={0,0,0} | then").ok());
  EXPECT_FALSE(picture_with("int8[]={0} | then", "int8[]={3} | then").ok());
  EXPECT_FALSE(picture_with("float32[1x3x8x8]", "float16[1x3x8x8]").ok());
}

TEST(PooledConv, NeedsAnActivationThatNeverFallsAndAMaximum) {
  EXPECT_TRUE(pooled_with("kind=relu", "kind=leaky_relu alpha=0.1").ok());
  EXPECT_FALSE(pooled_with("kind=relu", "kind=leaky_relu alpha=-0.1").ok());
  EXPECT_FALSE(pooled_with("kind=relu", "kind=swish alpha=1").ok());
  EXPECT_FALSE(pooled_with("kind=relu", "kind=gelu_erf").ok());
  EXPECT_FALSE(pooled_with("kind=max", "kind=average").ok());
  EXPECT_FALSE(pooled_with("act(r0) kind=relu", "unary(r0) kind=abs").ok());
}

// What the rule promises, at some numbers.
TEST(NeverFalls, IsTrueOfFunctionsThatDoNot) {
  for (const ActivationKind kind :
       {ActivationKind::relu, ActivationKind::clip, ActivationKind::leaky_relu, ActivationKind::elu,
        ActivationKind::selu, ActivationKind::celu, ActivationKind::sigmoid,
        ActivationKind::hard_sigmoid, ActivationKind::hard_swish, ActivationKind::swish,
        ActivationKind::mish, ActivationKind::tanh, ActivationKind::softplus,
        ActivationKind::softsign, ActivationKind::gelu_erf, ActivationKind::gelu_tanh,
        ActivationKind::thresholded_relu}) {
    Activation activation{kind, 0.3f, 1.2f};
    bool falls = false;
    for (int i = -400; i < 400; ++i)
      falls |= activate(activation, 0.01 * (i + 1)) < activate(activation, 0.01 * i);
    EXPECT_EQ(never_falls(activation), !falls) << static_cast<int>(kind);
  }
}

}  // namespace
}  // namespace enginery
