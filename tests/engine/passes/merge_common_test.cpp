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

}  // namespace
}  // namespace enginery
