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

TEST(FuseVertical, ChainsFunctionsOfEveryKind) {
  Graph g = parse(
      "input %x : float32[2x4]\n input %z : float32[2x4]\n %k = constant float32[1] random(1)\n"
      "%a = act(%x) kind=sigmoid\n %b = binary(%k, %a) kind=sub\n %c = unary(%b) kind=sqrt\n"
      "%d = binary(%z, %c) kind=div\n %s = constant float32[4] random(2)\n %e = prelu(%d, %s)\n"
      "%f = binary(%e, %z) kind=max\n %y = unary(%f) kind=exp\n output %y");
  EXPECT_EQ(run(fuse_vertical, g), 1);
  EXPECT_EQ(layer_count(g), 1);
  EXPECT_EQ(test::group_problem(g), "");
}

TEST(FuseVertical, BeginsAnotherChainAtTheNinthFunctionAndTheSeventhInput) {
  std::string functions = "input %v0 : float32[4]\n", sums = "input %v0 : float32[4]\n";
  for (int i = 1; i <= 10; ++i) {
    const std::string v = "%v" + std::to_string(i), before = "%v" + std::to_string(i - 1);
    functions += v + " = unary(" + before + ") kind=exp\n";
    sums += "input %x" + std::to_string(i) + " : float32[4]\n" + v + " = binary(" + before +
            ", %x" + std::to_string(i) + ") kind=sub\n";
  }
  Graph of_functions = parse(functions + "output %v10");
  EXPECT_EQ(run(fuse_vertical, of_functions), 2);
  EXPECT_EQ(node_named(of_functions, "v1").group, node_named(of_functions, "v8").group);
  EXPECT_EQ(node_named(of_functions, "v9").group, node_named(of_functions, "v10").group);
  Graph of_sums = parse(sums + "output %v10");
  EXPECT_EQ(run(fuse_vertical, of_sums), 2);
  EXPECT_EQ(node_named(of_sums, "v1").group, node_named(of_sums, "v5").group);
  EXPECT_EQ(node_named(of_sums, "v6").group, node_named(of_sums, "v10").group);
}

// What flows is a slope there, and a truth value here.
TEST(FuseVertical, LeavesWhatIsNoFunctionOfTheChain) {
  Graph slopes = parse(
      "input %x : float32[4]\n input %z : float32[4]\n %a = unary(%x) kind=exp\n"
      "%y = prelu(%z, %a)\n output %y");
  EXPECT_EQ(run(fuse_vertical, slopes), 0);
  Graph truths = parse(
      "input %x : float32[4]\n input %z : float32[4]\n %a = unary(%x) kind=exp\n"
      "%y = binary(%z, %a) kind=less\n output %y");
  EXPECT_EQ(run(fuse_vertical, truths), 0);
}

// As a square it is one function of what flows; a sum of it with itself is not looked for.
TEST(FuseVertical, ChainsSquares) {
  Graph g = parse(
      "input %x : float32[4]\n %a = act(%x) kind=sigmoid\n %b = binary(%a, %a) kind=mul\n"
      "%y = unary(%b) kind=neg\n output %y");
  EXPECT_EQ(run(fuse_vertical, g), 1);
  EXPECT_EQ(layer_count(g), 1);
  EXPECT_EQ(test::group_problem(g), "");
  Graph sum = parse(
      "input %x : float32[4]\n %a = act(%x) kind=sigmoid\n %y = binary(%a, %a) kind=add\n"
      "output %y");
  EXPECT_EQ(run(fuse_vertical, sum), 0);
}

// What is a little off before a step is off by one behind it.
TEST(FuseVertical, BeginsChainsAtSteps) {
  Graph g = parse(
      "input %x : float32[4]\n %a = unary(%x) kind=exp\n %b = unary(%a) kind=floor\n"
      "%y = unary(%b) kind=neg\n output %y");
  EXPECT_EQ(run(fuse_vertical, g), 1);
  EXPECT_EQ(node_named(g, "a").group, kNoGroup);
  EXPECT_EQ(node_named(g, "b").group, node_named(g, "y").group);
}

TEST(FuseVertical, ChainsChoicesAndBeginsAtWholeNumbers) {
  Graph g = parse(
      "input %x : int64[4]\n input %m : boolean[4]\n input %z : float32[4]\n"
      "%a = cast(%x) to=float32\n %b = unary(%a) kind=neg\n %y = select(%m, %z, %b)\n output %y");
  const auto groups = fuse_vertical(g);
  ASSERT_TRUE(groups.ok());
  EXPECT_EQ(*groups, 1);
  EXPECT_EQ(layer_count(g), 1);
  Graph halves = parse(
      "input %x : float32[4]\n %a = cast(%x) to=float16\n %y = unary(%a) kind=neg\n output %y");
  EXPECT_EQ(run(fuse_vertical, halves), 0) << "a rounding that somebody asked for";
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
