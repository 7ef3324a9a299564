#include "engine/passes/fold_batch_norm.h"

#include <gtest/gtest.h>

#include "tests/engine/passes/passes_support.h"

namespace enginery {
namespace {

TEST(FoldBatchNorm, FoldsIntoAConvolutionWithAndWithoutBias) {
  for (std::string bias : {"_", "%b"}) {
    Graph g = parse(
        "input %x : float32[1x3x5x5]\n %w = constant float32[4x3x3x3] random(1)\n %b = constant "
        "float32[4] random(2)\n"
        "%s = constant float32[4] {1, 2, -1, 0.5}\n %t = constant float32[4] random(3)\n %m = "
        "constant float32[4] random(4)\n"
        "%v = constant float32[4] {1, 0.5, 2, 1}\n %c = conv(%x, %w, " +
        bias + ") " + kConv + "\n %y = batch_norm(%c, %s, %t, %m, %v) epsilon=0.001\n output %y");
    EXPECT_EQ(run(fold_batch_norm, g), 1);
    EXPECT_EQ(g.live_node_count(), 1);
  }
}

TEST(FoldBatchNorm, FoldsAPerChannelScaleIntoAMatrixProduct) {
  Graph g = parse(
      "input %x : float32[2x3]\n %w = constant float32[3x4] random(1)\n %s = constant float32[4] "
      "{1, 2, 3, 4}\n"
      "%c = gemm(%x, %w)\n %y = binary(%c, %s) kind=mul\n %t = constant float32[4] {1, 0, 3, 4}\n "
      "%z = binary(%t, %y) kind=add\n output %z");
  EXPECT_EQ(run(fold_batch_norm, g), 2);
  EXPECT_EQ(g.live_node_count(), 1);
}

TEST(FoldBatchNorm, FoldsIntoAGroupedDeconvolution) {
  Graph g = parse(
      "input %x : float32[1x4x3x3]\n %w = constant float32[4x3x2x2] random(1)\n %s = constant "
      "float32[1x6x1x1] {1, 2, 3, 4, 5, 6}\n"
      "%c = deconv(%x, %w) strides=[2,2] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] "
      "output_padding=[0,0] groups=2\n"
      "%y = binary(%c, %s) kind=mul\n output %y");
  EXPECT_EQ(run(fold_batch_norm, g), 1);
}

TEST(FoldBatchNorm, LeavesAConvolutionThatSomethingElseReads) {
  Graph g = parse(
      "input %x : float32[1x3x5x5]\n %w = constant float32[4x3x3x3] random(1)\n %s = constant "
      "float32[4x1x1] random(2)\n"
      "%c = conv(%x, %w) " +
      kConv + "\n %y = binary(%c, %s) kind=mul\n output %y\n output %c");
  EXPECT_EQ(run(fold_batch_norm, g), 0);
}

TEST(FoldBatchNorm, RejectsNonPositiveVariance) {
  Graph g = parse(
      "input %x : float32[1x2x3x3]\n %w = constant float32[2x2x1x1] random(1)\n %s = constant "
      "float32[2] {1, 1}\n"
      "%v = constant float32[2] {1, -3}\n %c = conv(%x, %w) strides=[1,1] dilations=[1,1] "
      "pads_begin=[0,0] pads_end=[0,0] groups=1\n"
      "%y = batch_norm(%c, %s, %s, %s, %v)\n output %y");
  auto changed = fold_batch_norm(g);
  ASSERT_TRUE(changed);
  EXPECT_EQ(*changed, 0);
}

TEST(FoldBatchNorm, DecomposesOneThatNothingTakes) {
  Graph g = parse(
      "input %x : float32[1x2x3x3]\n %s = constant float32[2] {1, 2}\n %v = constant float32[2] "
      "{1, 3}\n"
      "%y = batch_norm(%x, %s, %s, %s, %v)\n output %y");
  EXPECT_EQ(run(fold_batch_norm, g), 1);
  EXPECT_EQ(count<BatchNorm>(g), 0);
}

// One number a row of the plane is not one a channel, even where there are as many.
TEST(FoldBatchNorm, LeavesAScaleAlongAnotherAxis) {
  Graph g = parse(
      "input %x : float32[1x4x4x4]\n %w = constant float32[4x4x3x3] random(1)\n"
      "%s = constant float32[4x1] {1, 2, 3, 4}\n %c = conv(%x, %w) " +
      kConv + "\n %y = binary(%c, %s) kind=mul\n output %y");
  EXPECT_EQ(run(fold_batch_norm, g), 0);
}

TEST(FoldBatchNorm, LeavesAConstantMinusTheResult) {
  Graph g = parse(
      "input %x : float32[1x4x4x4]\n %w = constant float32[4x4x3x3] random(1)\n"
      "%s = constant float32[4x1x1] {1, 2, 3, 4}\n %c = conv(%x, %w) " +
      kConv + "\n %y = binary(%s, %c) kind=sub\n output %y");
  EXPECT_EQ(run(fold_batch_norm, g), 0);
}

}  // namespace
}  // namespace enginery
