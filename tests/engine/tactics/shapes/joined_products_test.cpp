// Two convolutions whose results are added, as sources read them out of a region.
#include "engine/tactics/shapes/joined_products.h"

#include <gtest/gtest.h>

#include "tests/engine/tactics/shapes/problem_of.h"

namespace enginery {
namespace {

const std::string kConv = " strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0]";
const std::string kFloats = "conv" + kConv +
                            " | float32[2x16x6x5] w:float32[40x16x1x1] w:float32[40] | then "
                            "conv(float32[2x32x6x5] w:float32[40x32x1x1])" +
                            kConv + " | then binary(r1 r0) kind=add";

// `middle`: what makes the addend of the first product.
std::string quantized(const std::string& middle, const std::string& sum) {
  return "dequantize | uint8[2x16x6x5] w:float32[] | then dequantize(w:int8[48x16x1x1] "
         "w:float32[48]) axis=0 | then conv(r0 r1 w:float32[48])" +
         kConv + " | then " + middle +
         " | then dequantize(r3 w:float32[]) | then dequantize(uint8[2x32x6x5] w:float32[]) | then "
         "dequantize(w:int8[48x32x1x1] w:float32[48]) axis=0 | then conv(r5 r6)" +
         kConv + " | then " + sum + " | then act(r8) kind=relu | then quantize(r9 w:float32[]) " +
         "to=uint8";
}
const std::string kRounds = "quantize(r2 w:float32[]) to=int8", kSum = "binary(r4 r7) kind=add";

TEST(JoinedFloats, AreTwoConvolutionsWithTheirInputs) {
  const auto joined = joined_floats(problem_of(kFloats + " | then act(r2) kind=relu"));
  ASSERT_TRUE(joined.ok()) << joined.error().message;
  EXPECT_EQ(joined->parts[0].source, 0);
  EXPECT_EQ(joined->parts[0].weights, 1);
  EXPECT_EQ(joined->parts[0].shape.bias.input, 2);
  EXPECT_EQ(joined->parts[1].source, 3);
  EXPECT_EQ(joined->parts[1].weights, 4);
  EXPECT_EQ(joined->parts[1].shape.bias.input, -1);
  EXPECT_EQ(joined->parts[1].shape.c, 32);
  ASSERT_TRUE(joined->activation);
  EXPECT_EQ(joined->activation->kind, ActivationKind::relu);
  EXPECT_TRUE(joins_products(problem_of(kFloats)));
}

TEST(JoinedFloats, SayWhatTheyAreNot) {
  for (const std::string& text :
       {"conv" + kConv + " | float32[2x16x6x5] w:float32[16x16x1x1] | then conv(r0 " +
            "w:float32[16x16x1x1])" + kConv + " | then binary(r0 r1) kind=add",
        "conv" + kConv +
            " | float32[2x16x6x5] w:float32[40x16x1x1] | then conv(float32[2x32x6x5] "
            "w:float32[40x32x1x1])" +
            kConv + " | then binary(r0 r1) kind=mul",
        kFloats + " | then softmax(r2) axis=1"})
    EXPECT_FALSE(joined_floats(problem_of(text)).ok()) << text;
}

TEST(JoinedQuantized, TheFirstIsTheAddendOfTheSecond) {
  const Problem problem = problem_of(quantized(kRounds, kSum));
  const auto joined = joined_quantized(problem);
  ASSERT_TRUE(joined.ok()) << joined.error().message;
  const int inputs = static_cast<int>(problem.inputs.size());
  EXPECT_EQ(joined->first.result, DataType::int8);
  EXPECT_EQ(joined->first.weights, 2);
  EXPECT_GE(joined->first.bias, 0);
  EXPECT_EQ(joined->first.addend, -1);
  EXPECT_EQ(joined->second.addend, inputs);
  EXPECT_EQ(joined->second.addend_type, DataType::int8);
  EXPECT_LT(joined->second.addend_scale, inputs);
  EXPECT_EQ(joined->second.bias, -1);
  EXPECT_EQ(joined->second.result, DataType::uint8);
  EXPECT_EQ(input_dims(problem, static_cast<size_t>(joined->second_source)), (Dims{2, 32, 6, 5}));
}

TEST(JoinedQuantized, SayWhatTheyAreNot) {
  for (const std::string& text :
       {quantized(kRounds, "binary(r4 r7) kind=mul"), kFloats,
        "dequantize | uint8[2x16x6x5] w:float32[] | then dequantize(w:int8[48x16x1x1] "
        "w:float32[48]) axis=0 | then conv(r0 r1)" +
            kConv + " | then quantize(r2 w:float32[]) to=int8"})
    EXPECT_FALSE(joined_quantized(problem_of(text)).ok()) << text;
}

}  // namespace
}  // namespace enginery
