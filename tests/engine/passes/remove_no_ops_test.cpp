#include "engine/passes/remove_no_ops.h"

#include <gtest/gtest.h>

#include "tests/engine/passes/passes_support.h"

namespace enginery {
namespace {

TEST(RemoveNoOps, RemovesIdentitiesAndKeepsOutputNames) {
  Graph g = parse(
      "input %x : float32[2x3]\n %a = act(%x) kind=relu\n %b = identity(%a)\n %c = transpose(%b) "
      "permutation=[0,1]\n output %c");
  EXPECT_EQ(run(remove_no_ops, g), 2);
  EXPECT_EQ(g.value(g.outputs()[0]).name, "c");
}

TEST(RemoveNoOps, LeavesAnIdentityBetweenInputAndOutput) {
  Graph g = parse("input %x : float32[2]\n %y = identity(%x)\n output %y");
  EXPECT_EQ(run(remove_no_ops, g), 0);
}

// The dims stay: only the type tells that something happens between them.
TEST(RemoveNoOps, KeepsACastThatChangesTheType) {
  Graph g = parse(R"(input %x : float32[4]
    %i = cast(%x) to=int32
    %f = cast(%i) to=float32
    %y = act(%f) kind=relu
    output %y)");
  EXPECT_EQ(run(remove_no_ops, g), 0);
  EXPECT_EQ(count<Cast>(g), 2);
}

TEST(RemoveNoOps, RemovesACastToTheSameType) {
  Graph g = parse(R"(input %x : float32[4]
    %a = act(%x) kind=relu
    %f = cast(%a) to=float32
    %y = act(%f) kind=tanh
    output %y)");
  EXPECT_EQ(run(remove_no_ops, g), 1);
}

TEST(RemoveNoOps, LeavesATransposeThatMovesElements) {
  Graph g = parse(
      "input %x : float32[2x2]\n %a = act(%x) kind=relu\n %c = transpose(%a) permutation=[1,0]\n "
      "%d = act(%c) kind=relu\n output %d");
  EXPECT_EQ(run(remove_no_ops, g), 0);
}

// The dims stay in each: what one end gains, the other loses.
TEST(RemoveNoOps, LeavesAPadThatMovesElements) {
  for (const std::string pads : {"{1, 0, -1, 0}", "{0, 1, 0, -1}", "{0, -1, 0, 1}"}) {
    Graph g = parse("input %x : float32[2x3]\n %a = act(%x) kind=relu\n %p = constant int64[4] " +
                    pads + "\n %b = pad(%a, %p)\n %y = act(%b) kind=tanh\n output %y");
    EXPECT_EQ(run(remove_no_ops, g), 0) << pads;
  }
}

}  // namespace
}  // namespace enginery
