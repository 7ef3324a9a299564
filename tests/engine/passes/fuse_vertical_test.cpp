#include "engine/passes/fuse_vertical.h"

#include <gtest/gtest.h>

#include "engine/passes/pass.h"
#include "tests/engine/passes/passes_support.h"
#include "tests/support/random_graph.h"

namespace enginery {
namespace {

TEST(FuseVertical, GroupsConvolutionBiasResidualAndActivation) {
  Graph g = parse(
      "input %x : float32[1x4x5x5]\n %w = constant float32[4x4x3x3] random(1)\n %b = constant "
      "float32[4] random(2)\n"
      "%c = conv(%x, %w, %b) " +
      kConv + "\n %a = binary(%c, %x) kind=add\n %r = act(%a) kind=relu\n output %r");
  EXPECT_EQ(run(fuse_vertical, g), 1);
  EXPECT_EQ(layer_count(g), 1);
}

TEST(FuseVertical, GivesAnAdditionToTheLaterOfTwoConvolutions) {
  Graph g = parse(
      "input %x : float32[1x4x5x5]\n %w = constant float32[4x4x3x3] random(1)\n"
      "%early = conv(%x, %w) " +
      kConv + "\n %m = conv(%x, %w) " + kConv +
      "\n %m2 = act(%m) kind=relu\n %late = conv(%m2, %w) " + kConv +
      "\n %a = binary(%early, %late) kind=add\n output %a");
  EXPECT_EQ(run(fuse_vertical, g), 2);
  NodeId add = g.value(g.outputs()[0]).producer;
  for (NodeId id : g.topological_order()) {
    if (g.node(id).name == "early") {
      EXPECT_EQ(g.node(id).group, kNoGroup);
    } else {
      EXPECT_TRUE(g.node(id).name != "late" || g.node(id).group == g.node(add).group);
    }
  }
}

// The sum has more elements than the convolution: no epilogue can write it.
TEST(FuseVertical, LeavesAnAdditionThatWidens) {
  Graph g = parse(
      "input %x : float32[1x4x5x5]\n input %r : float32[2x4x5x5]\n"
      "%w = constant float32[4x4x3x3] random(1)\n%c = conv(%x, %w) " +
      kConv + "\n %a = binary(%c, %r) kind=add\n %y = act(%a) kind=relu\n output %y");
  EXPECT_EQ(run(fuse_vertical, g), 1) << "the addition anchors its own group with the relu";
  for (NodeId id : g.topological_order()) {
    EXPECT_TRUE(g.node(id).name != "c" || g.node(id).group == kNoGroup);
  }
  EXPECT_EQ(test::group_problem(g), "");
}

TEST(FuseVertical, LeavesAValueThatTwoNodesRead) {
  Graph g =
      convolution_then("%r = act(%c) kind=relu\n %t = act(%c) kind=tanh\n output %r\n output %t");
  EXPECT_EQ(run(fuse_vertical, g), 0);
}

TEST(FuseVertical, LeavesAValueThatIsAnOutput) {
  Graph g = convolution_then("%r = act(%c) kind=relu\n output %c\n output %r");
  EXPECT_EQ(run(fuse_vertical, g), 0);
}

TEST(FuseVertical, LeavesAConvolutionAddedToItself) {
  Graph g = convolution_then("%a = binary(%c, %c) kind=add\n output %a");
  EXPECT_EQ(run(fuse_vertical, g), 0);
}

TEST(FuseVertical, TakesNoOtherCombinationThanSumsAndProducts) {
  for (const std::string kind : {"sub", "div", "max"}) {
    Graph g = convolution_then("%a = binary(%c, %x) kind=" + kind + "\n output %a");
    EXPECT_EQ(run(fuse_vertical, g), 0) << kind;
  }
}

// A gate: what a second product gives is multiplied in (Dauphin et al., "Language modeling with
// gated convolutional networks", 2017).
TEST(FuseVertical, TakesTheProductOfAGate) {
  Graph g = parse(
      "input %x : float32[2x4]\n %w = constant float32[4x8] random(1)\n"
      "%v = constant float32[4x8] random(2)\n %a = matmul(%x, %w)\n %s = act(%a) kind=swish\n"
      "%b = matmul(%x, %v)\n %y = binary(%s, %b) kind=mul\n output %y");
  EXPECT_EQ(run(fuse_vertical, g), 2);
  EXPECT_EQ(layer_count(g), 2);
  EXPECT_EQ(test::group_problem(g), "");
}

// The gate of a squeeze-excite block has one number a channel, its product with the picture more.
TEST(FuseVertical, LeavesAProductThatIsWiderThanTheGate) {
  Graph g = convolution_then(
      "%p = global_pool(%c) kind=average\n %k = constant float32[4x4x1x1] random(2)\n"
      "%e = conv(%p, %k) strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] groups=1\n"
      "%s = act(%e) kind=sigmoid\n %y = binary(%c, %s) kind=mul\n %z = act(%y) kind=relu\n"
      "output %z");
  EXPECT_EQ(run(fuse_vertical, g), 2);
  EXPECT_EQ(node_named(g, "e").group, node_named(g, "s").group);
  EXPECT_EQ(node_named(g, "y").group, node_named(g, "z").group);
  EXPECT_NE(node_named(g, "s").group, node_named(g, "y").group);
}

TEST(FuseVertical, MakesOneGroupOfAnElementWiseChain) {
  Graph g = parse(
      "input %x : float32[2x4]\n input %z : float32[2x4]\n %k = constant float32[4] random(1)\n"
      "%a = unary(%x) kind=exp\n %b = binary(%a, %k) kind=mul\n %c = binary(%z, %b) kind=add\n"
      "%y = act(%c) kind=tanh\n output %y");
  EXPECT_EQ(run(fuse_vertical, g), 1);
  EXPECT_EQ(layer_count(g), 1);
  EXPECT_EQ(test::group_problem(g), "");
}

// An epilogue holds two activations and three operands at most; what follows stays for itself.
TEST(FuseVertical, StopsAtTheThirdActivationAndTheFourthOperand) {
  Graph acts = convolution_then(
      "%a = act(%c) kind=relu\n %b = act(%a) kind=tanh\n %d = act(%b) kind=sigmoid\n output %d");
  EXPECT_EQ(run(fuse_vertical, acts), 1);
  EXPECT_EQ(layer_count(acts), 2);
  EXPECT_EQ(node_named(acts, "d").group, kNoGroup);
  Graph operands = convolution_then(
      "%a = binary(%c, %x) kind=add\n %b = binary(%a, %x) kind=mul\n %d = binary(%b, %x) "
      "kind=add\n %e = binary(%d, %x) kind=add\n output %e");
  run(fuse_vertical, operands);
  EXPECT_EQ(node_named(operands, "c").group, node_named(operands, "d").group);
  EXPECT_NE(node_named(operands, "c").group, node_named(operands, "e").group);
}

TEST(FuseVertical, AnchorsAnElementWiseGroupOnlyWhereNothingElseTakesTheActivation) {
  Graph g = convolution_then(
      "%s = binary(%x, %x) kind=mul\n %t = act(%s) kind=tanh\n %a = binary(%c, %t) kind=add\n "
      "%r = act(%a) kind=relu\n output %r");
  EXPECT_EQ(run(fuse_vertical, g), 2);
  EXPECT_EQ(node_named(g, "s").group, node_named(g, "t").group);
  EXPECT_EQ(node_named(g, "c").group, node_named(g, "r").group);
  EXPECT_EQ(test::group_problem(g), "");
}

TEST(FuseVertical, LeavesIntegers) {
  Graph g = parse(
      "input %x : int64[4]\n %s = binary(%x, %x) kind=add\n %r = act(%s) kind=relu\n output %r");
  const auto groups = fuse_vertical(g);
  ASSERT_TRUE(groups.ok());
  EXPECT_EQ(*groups, 0);
}

}  // namespace
}  // namespace enginery
