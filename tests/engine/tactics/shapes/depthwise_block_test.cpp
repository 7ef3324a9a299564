// A depthwise convolution between products, as sources read it out of a region.
#include "engine/tactics/shapes/depthwise_block.h"

#include <gtest/gtest.h>

#include "tests/engine/tactics/shapes/problem_of.h"

namespace enginery {
namespace {

const std::string kPointwise = " strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0]";
const std::string kWindow =
    " groups=16 strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1]";
const std::string kDepthwise = "conv" + kWindow + " | float32[2x16x6x5] w:float32[16x1x3x3]";

Result<DepthwiseBlock> read(const std::string& text) {
  return depthwise_block(problem_of(text));
}

TEST(DepthwiseBlock, HasItsConvolutionsWithTheirEpilogues) {
  const auto block =
      read("conv" + kPointwise + " | float32[2x8x6x5] w:float32[16x8x1x1] w:float32[16] | then " +
           "act(r0) kind=relu | then conv(r1 w:float32[16x1x3x3])" + kWindow +
           " | then act(r2) kind=clip alpha=0 beta=6 | then conv(r3 w:float32[8x16x1x1] " +
           "w:float32[8])" + kPointwise + " | then binary(0 r4) kind=add | then act(r5) kind=relu");
  ASSERT_TRUE(block.ok()) << block.error().message;
  ASSERT_TRUE(block->expand);
  EXPECT_EQ(block->expand->from, (std::vector<int>{0, 1, 2}));
  ASSERT_EQ(block->expand->problem.epilogue.size(), 1u);
  EXPECT_EQ(block->expand->problem.epilogue[0].activation.kind, ActivationKind::relu);
  EXPECT_EQ(block->depthwise.from, (std::vector<int>{-1, 3}));
  ASSERT_EQ(block->depthwise.problem.epilogue.size(), 1u);
  EXPECT_EQ(block->depthwise.problem.epilogue[0].activation.kind, ActivationKind::clip);
  EXPECT_EQ(block->channels(), 16);
  EXPECT_EQ(block->project.from, (std::vector<int>{-1, 4, 5, 0}));
  ASSERT_EQ(block->project.problem.epilogue.size(), 2u);
  EXPECT_EQ(block->project.problem.epilogue[0].kind, EpilogueKind::add);
  EXPECT_EQ(block->project.problem.epilogue[0].operand, 3);
  EXPECT_EQ(block->project.problem.epilogue[1].activation.kind, ActivationKind::relu);
}

TEST(DepthwiseBlock, NeedsNothingInFrontBetweenAndBehind) {
  const auto block = read(kDepthwise + " | then conv(r0 w:float32[24x16x1x1])" + kPointwise);
  ASSERT_TRUE(block.ok()) << block.error().message;
  EXPECT_FALSE(block->expand);
  EXPECT_EQ(block->depthwise.from, (std::vector<int>{0, 1}));
  EXPECT_TRUE(block->depthwise.problem.epilogue.empty());
  EXPECT_TRUE(block->project.problem.epilogue.empty());
  EXPECT_EQ(block->project.from, (std::vector<int>{-1, 2}));
}

TEST(DepthwiseBlock, SaysWhatItIsNot) {
  const std::string product = " | then conv(r0 w:float32[24x16x1x1])" + kPointwise;
  for (const std::string& text :
       {kDepthwise + " | then act(r0) kind=relu | then softmax(r1) axis=1",
        kDepthwise + product + " | then binary(r1 float32[2x24x6x5]) kind=mul",
        kDepthwise + product + " | then binary(r1 r1) kind=add",
        kDepthwise + product + " | then softmax(r1) axis=1",
        kDepthwise + product + " | then act(r1) kind=relu | then binary(r2 float32[2x24x6x5]) " +
            "kind=add",
        "conv" + kPointwise + " | float32[2x16x6x5] w:float32[16x16x1x1]" + product})
    EXPECT_FALSE(read(text).ok()) << text;
}

TEST(DepthwiseBlock, IsLookedForFromTheLongestOn) {
  const std::vector<RegionPattern> patterns = depthwise_block_patterns();
  ASSERT_EQ(patterns.size(), 24u);
  EXPECT_EQ(patterns.front().places.size(), 7u);
  EXPECT_EQ(patterns.back().places.size(), 2u);
  for (size_t i = 1; i < patterns.size(); ++i)
    EXPECT_GE(patterns[i - 1].places.size(), patterns[i].places.size());
}

}  // namespace
}  // namespace enginery
