// A product of a picture's averages, as sources read it out of a region.
#include "engine/tactics/shapes/averaged_product.h"

#include <gtest/gtest.h>

#include "engine/tactics/shapes/fully_connected.h"
#include "tests/engine/tactics/shapes/problem_of.h"

namespace enginery {
namespace {

const std::string kAverage = "global_pool kind=average | float32[2x16x6x5]";
const std::string kFlat = kAverage + " | then flatten(r0) axis=1";
const std::string kPixel = " strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0]";

Result<AveragedProduct> read_averaged(const std::string& text) {
  return averaged_product(problem_of(text));
}

TEST(AveragedProduct, HasItsLayerWithTheActivation) {
  const auto region = read_averaged(kFlat + " | then gemm(r1 w:float32[8x16] w:float32[8]) " +
                                    "transpose_b=true | then act(r2) kind=relu");
  ASSERT_TRUE(region.ok()) << region.error().message;
  EXPECT_EQ(region->from, (std::vector<int>{-1, 1, 2}));
  ASSERT_EQ(region->product.epilogue.size(), 1u);
  const auto layer = read_fully_connected(region->product);
  ASSERT_TRUE(layer);
  EXPECT_EQ(layer->m, 2);
  EXPECT_EQ(layer->n, 8);
  EXPECT_EQ(layer->k, 16);
  EXPECT_EQ(layer->addend, 2);
}

TEST(AveragedProduct, TakesAPixelsConvolutionAsALayer) {
  const auto region = read_averaged(kAverage + " | then conv(r0 w:float32[8x16x1x1])" + kPixel);
  ASSERT_TRUE(region.ok()) << region.error().message;
  const auto layer = read_fully_connected(region->product);
  ASSERT_TRUE(layer);
  EXPECT_TRUE(layer->weights_are_nk);
  EXPECT_EQ(layer->n, 8);
  EXPECT_EQ(layer->addend, -1);
}

TEST(AveragedProduct, SaysWhatItIsNot) {
  const std::string layer = " | then gemm(r1 w:float32[16x8])";
  for (const std::string& text :
       {kFlat + layer + " | then softmax(r2) axis=1",
        kFlat + layer + " | then act(r2) kind=relu | then act(r3) kind=tanh",
        kFlat + " | then gemm(r1 r1) transpose_b=true",
        kAverage + " | then conv(r0 w:float32[8x16x1x1]) strides=[1,1] dilations=[1,1] "
                   "pads_begin=[1,1] pads_end=[1,1]",
        kAverage + " | then conv(r0 w:float32[16x4x1x1]) groups=4" + kPixel,
        kAverage + " | then flatten(r0) axis=0 | then gemm(r1 w:float32[32x8])",
        std::string("global_pool kind=max | float32[2x16x6x5] | then flatten(r0) axis=1") + layer})
    EXPECT_FALSE(read_averaged(text).ok()) << text;
}

}  // namespace
}  // namespace enginery
