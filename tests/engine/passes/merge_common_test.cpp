#include "engine/passes/merge_common.h"

#include <gtest/gtest.h>

#include "tests/engine/passes/passes_support.h"

namespace enginery {
namespace {

TEST(MergeCommon, MergesEqualNodesOnEqualConstants) {
  Graph g = parse(R"(input %x : float32[4]
    %a = constant float32[1] {2}
    %b = constant float32[1] {2}
    %p = binary(%x, %a) kind=mul
    %q = binary(%x, %b) kind=mul
    %r = binary(%p, %q) kind=add
    output %r)");
  EXPECT_EQ(run(merge_common, g), 1);
}

TEST(MergeCommon, KeepsConstantsOfEqualBytesButOtherDims) {
  Graph g = parse(R"(input %x : float32[4x4]
    %row = constant float32[1x4] {1, 2, 3, 4}
    %column = constant float32[4x1] {1, 2, 3, 4}
    %p = binary(%x, %row) kind=mul
    %q = binary(%x, %column) kind=mul
    %y = binary(%p, %q) kind=sub
    output %y)");
  EXPECT_EQ(run(merge_common, g), 0);
  EXPECT_EQ(g.live_node_count(), 3);
}

// Zero as a float and as an integer has the same four bytes; so have the exponents 2 and 2.8e-45.
TEST(MergeCommon, KeepsConstantsOfEqualBytesButAnotherType) {
  Graph g = parse(R"(input %x : float32[4]
    %f = constant float32[4] {0, 0, 0, 0}
    %i = constant int32[4] {0, 0, 0, 0}
    %a = identity(%f)
    %b = identity(%i)
    %c = cast(%b) to=float32
    %two = constant int32[] {2}
    %tiny = constant float32[] {2.8e-45}
    %s = unary(%x) kind=abs
    %p = binary(%s, %two) kind=pow
    %q = binary(%s, %tiny) kind=pow
    %y = binary(%a, %c) kind=add
    %z = binary(%p, %q) kind=sub
    output %y
    output %z)");
  EXPECT_EQ(run(merge_common, g), 0);
}

TEST(MergeCommon, KeepsNodesWithOtherAttributes) {
  Graph g = parse(
      "input %x : float32[4]\n %p = act(%x) kind=relu\n %q = act(%x) kind=tanh\n %r = binary(%p, "
      "%q) kind=add\n output %r");
  EXPECT_EQ(run(merge_common, g), 0);
}

TEST(MergeCommon, MergesChainsFromTheFrontOn) {
  Graph g = parse(R"(input %x : float32[4]
    %a1 = act(%x) kind=relu
    %a2 = act(%x) kind=relu
    %b1 = act(%a1) kind=tanh
    %b2 = act(%a2) kind=tanh
    %y = binary(%b1, %b2) kind=add
    output %y)");
  EXPECT_EQ(run(merge_common, g), 2);
  EXPECT_EQ(g.live_node_count(), 3);
}

TEST(MergeCommon, MergesEveryOutputOfANode) {
  Graph g = parse(R"(input %x : float32[4]
    %a, %b = split(%x) axis=0 sizes=[2,2]
    %c, %d = split(%x) axis=0 sizes=[2,2]
    %p = binary(%a, %d) kind=sub
    %q = binary(%c, %b) kind=mul
    %y = binary(%p, %q) kind=add
    output %y)");
  EXPECT_EQ(run(merge_common, g), 1);
  EXPECT_EQ(count<Split>(g), 1);
}

TEST(MergeCommon, KeepsTheOrderOfOperands) {
  Graph g = parse(R"(input %x : float32[4]
    input %z : float32[4]
    %p = binary(%x, %z) kind=sub
    %q = binary(%z, %x) kind=sub
    %y = binary(%p, %q) kind=mul
    output %y)");
  EXPECT_EQ(run(merge_common, g), 0);
}

TEST(MergeCommon, KeepsTwoOutputsOfOneComputation) {
  Graph g = parse(
      "input %x : float32[4]\n %p = act(%x) kind=relu\n %q = act(%x) kind=relu\n output %p\n "
      "output %q");
  EXPECT_EQ(run(merge_common, g), 0);
  EXPECT_NE(g.outputs()[0], g.outputs()[1]);
}

TEST(MergeCommon, TellsAnAbsentInputFromAConstant) {
  Graph g = parse(R"(input %x : float32[4]
    %zero = constant int64[2] {0, 0}
    %v = constant float32[] {7}
    %p = pad(%x, %zero)
    %q = pad(%x, %zero, %v)
    %y = binary(%p, %q) kind=add
    output %y)");
  EXPECT_EQ(run(merge_common, g), 0);
}

// Two of 1025 floats, which is more than 4 KiB, and %x times each of them.
Graph products_with_large(const std::string& first, const std::string& second) {
  return parse("input %x : float32[1025]\n %a = constant float32[1025] " + first +
               "\n %b = constant float32[1025] " + second +
               "\n %p = binary(%x, %a) kind=mul\n %q = binary(%x, %b) kind=sub\n %y = "
               "binary(%p, %q) kind=add\n output %y");
}

// Tied weights that an exporter wrote twice: the engine holds what nodes read, once.
TEST(MergeCommon, StoresALargeConstantOnce) {
  Graph g = products_with_large("random(3)", "random(3)");
  EXPECT_EQ(run(merge_common, g), 1);
  EXPECT_EQ(g.node(0).inputs[1], g.node(1).inputs[1]);
  EXPECT_EQ(g.live_node_count(), 3);
}

TEST(MergeCommon, KeepsLargeConstantsOfOtherContent) {
  Graph g = products_with_large("random(3)", "random(4)");
  EXPECT_EQ(run(merge_common, g), 0);
}

TEST(MergeCommon, MergesNodesThatReadEqualLargeConstants) {
  Graph g = parse(R"(input %x : float32[1025]
    %a = constant float32[1025] fill(2)
    %b = constant float32[1025] fill(2)
    %p = binary(%x, %a) kind=mul
    %q = binary(%x, %b) kind=mul
    %y = binary(%p, %q) kind=add
    output %y)");
  EXPECT_EQ(run(merge_common, g), 2) << "the constant and the node";
  EXPECT_EQ(g.live_node_count(), 2);
}

}  // namespace
}  // namespace enginery
