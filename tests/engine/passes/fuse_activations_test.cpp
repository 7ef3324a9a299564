#include "engine/passes/fuse_activations.h"

#include <gtest/gtest.h>

#include "engine/passes/remove_dead.h"
#include "tests/engine/passes/passes_support.h"

namespace enginery {
namespace {

TEST(FuseActivations, RecognisesSwishHardSwishAndGelu) {
  Graph g = parse(R"(input %x : float32[8]
    %sg = act(%x) kind=sigmoid
    %sw = binary(%x, %sg) kind=mul
    %three = constant float32[] {3}
    %six = constant float32[] {6}
    %h1 = binary(%x, %three) kind=add
    %h2 = act(%h1) kind=clip alpha=0 beta=6
    %h3 = binary(%h2, %six) kind=div
    %h4 = binary(%x, %h3) kind=mul
    %r2 = constant float32[] {1.41421356}
    %one = constant float32[] {1}
    %half = constant float32[] {0.5}
    %g1 = binary(%x, %r2) kind=div
    %g2 = unary(%g1) kind=erf
    %g3 = binary(%g2, %one) kind=add
    %g4 = binary(%x, %g3) kind=mul
    %g5 = binary(%g4, %half) kind=mul
    output %sw
    output %h4
    output %g5)");
  EXPECT_EQ(run(fuse_activations, g), 4);  // the hard sigmoid, too
  run(remove_dead, g);
  EXPECT_EQ(g.live_node_count(), 3);
}

TEST(FuseActivations, LeavesPiecesWithOtherNumbers) {
  Graph g = parse(R"(input %x : float32[8]
    %two = constant float32[] {2}
    %six = constant float32[] {6}
    %h1 = binary(%x, %two) kind=add
    %h2 = act(%h1) kind=clip alpha=0 beta=6
    %h3 = binary(%h2, %six) kind=div
    %h4 = binary(%x, %h3) kind=mul
    %one = constant float32[] {1}
    %half = constant float32[] {0.5}
    %g1 = binary(%x, %two) kind=div
    %g2 = unary(%g1) kind=erf
    %g3 = binary(%g2, %one) kind=add
    %g4 = binary(%x, %g3) kind=mul
    %g5 = binary(%g4, %half) kind=mul
    output %h4
    output %g5)");
  EXPECT_EQ(run(fuse_activations, g), 0);
}

TEST(FuseActivations, LeavesAPieceThatSomethingElseReads) {
  Graph g = parse(R"(input %x : float32[8]
    %sg = act(%x) kind=sigmoid
    %sw = binary(%x, %sg) kind=mul
    output %sw
    output %sg)");
  EXPECT_EQ(run(fuse_activations, g), 0);
}

}  // namespace
}  // namespace enginery
