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

// Everything that is almost one of the patterns stays as it is.
TEST(FuseActivations, LeavesWhatOnlyLooksLikeASwish) {
  for (const std::string body : {
           "%g = act(%z) kind=sigmoid\n %y = binary(%x, %g) kind=mul",  // the gate of another value
           "%g = act(%x) kind=sigmoid\n %y = binary(%x, %g) kind=add",
           "%g = act(%x) kind=tanh\n %y = binary(%x, %g) kind=mul",
           "%g = act(%x) kind=hard_sigmoid alpha=0.2 beta=0.5\n %y = binary(%x, %g) kind=mul",
       }) {
    Graph g = parse("input %x : float32[8]\n input %z : float32[8]\n" + body + "\n output %y");
    EXPECT_EQ(run(fuse_activations, g), 0) << body;
  }
}

TEST(FuseActivations, TakesTheGateOnEitherSide) {
  for (const std::string operands : {"%x, %g", "%g, %x"}) {
    Graph g = parse("input %x : float32[8]\n %g = act(%x) kind=sigmoid\n %y = binary(" + operands +
                    ") kind=mul\n output %y");
    EXPECT_EQ(run(fuse_activations, g), 1) << operands;
    EXPECT_EQ(count<Activation>(g), 2) << "the gate is left to remove_dead";
  }
}

TEST(FuseActivations, TakesAHardSwishOfAHardSigmoid) {
  Graph g = parse(R"(input %x : float32[8]
    %g = act(%x) kind=hard_sigmoid alpha=0.16666667 beta=0.5
    %y = binary(%x, %g) kind=mul
    output %y)");
  EXPECT_EQ(run(fuse_activations, g), 1);
}

// A constant of rank 2 makes a matrix of a vector: an activation would not.
TEST(FuseActivations, LeavesAConstantThatRaisesTheRank) {
  Graph g = parse(R"(input %x : float32[8]
    %three = constant float32[1x1] {3}
    %six = constant float32[] {6}
    %a = binary(%x, %three) kind=add
    %b = act(%a) kind=clip alpha=0 beta=6
    %y = binary(%b, %six) kind=div
    output %y)");
  EXPECT_EQ(run(fuse_activations, g), 0);
}

TEST(FuseActivations, LeavesSixDividedByTheClip) {
  Graph g = parse(R"(input %x : float32[8]
    %three = constant float32[] {3}
    %six = constant float32[] {6}
    %a = binary(%x, %three) kind=add
    %b = act(%a) kind=clip alpha=0.5 beta=6
    %y = binary(%six, %b) kind=div
    output %y)");
  EXPECT_EQ(run(fuse_activations, g), 0);
}

TEST(FuseActivations, TakesAGeluWhoseHalfIsOnTheInput) {
  Graph g = parse(R"(input %x : float32[8]
    %root = constant float32[] {0.70710678}
    %one = constant float32[] {1}
    %half = constant float32[] {0.5}
    %h = binary(%half, %x) kind=mul
    %s = binary(%x, %root) kind=mul
    %e = unary(%s) kind=erf
    %p = binary(%one, %e) kind=add
    %y = binary(%h, %p) kind=mul
    output %y)");
  EXPECT_EQ(run(fuse_activations, g), 1);
  run(remove_dead, g);
  EXPECT_EQ(g.live_node_count(), 1);
}

// sqrt(2 / pi) x (1 + 0.044715 x^2), transformers' gelu_fast.
TEST(FuseActivations, TakesAGeluByTanhOfAProductWithASquare) {
  const auto graph = [](const std::string& one) {
    return parse(R"(input %x : float32[8]
      %cubic = constant float32[] {0.044715}
      %root = constant float32[] {0.7978845608}
      %one = constant float32[] {1}
      %other = constant float32[] {1.5}
      %half = constant float32[] {0.5}
      %c = binary(%x, %cubic) kind=mul
      %q = binary(%c, %x) kind=mul
      %s = binary(%q, )" +
                 one + R"() kind=add
      %k = binary(%x, %root) kind=mul
      %a = binary(%k, %s) kind=mul
      %t = act(%a) kind=tanh
      %p = binary(%t, %one) kind=add
      %h = binary(%x, %half) kind=mul
      %y = binary(%h, %p) kind=mul
      output %y)");
  };
  Graph g = graph("%one");
  EXPECT_EQ(run(fuse_activations, g), 1);
  run(remove_dead, g);
  EXPECT_EQ(g.live_node_count(), 1);
  Graph other = graph("%other");
  EXPECT_EQ(run(fuse_activations, other), 0);
}

// sqrt(2 / pi) (x + 0.044715 x^3) as PyTorch (products), transformers (pow) and others write it.
TEST(FuseActivations, TakesAGeluByTanhHoweverItsCubeIsWritten) {
  const auto graph = [](const std::string& cube, const std::string& product) {
    return parse(R"(input %x : float32[8]
      %cubic = constant float32[] {0.044715}
      %root = constant float32[] {0.7978845608}
      %one = constant float32[] {1}
      %half = constant float32[] {0.5}
      %three = constant float32[] {3}
      )" + cube + R"(
      %s = binary(%x, %k) kind=add
      %a = binary(%root, %s) kind=mul
      %t = act(%a) kind=tanh
      %p = binary(%one, %t) kind=add
      )" + product +
                 R"(
      output %y)");
  };
  const std::string products = R"(%q = binary(%x, %x) kind=mul
      %c = binary(%x, %q) kind=mul
      %k = binary(%cubic, %c) kind=mul)";
  const std::string power = R"(%c = binary(%x, %three) kind=pow
      %k = binary(%c, %cubic) kind=mul)";
  const std::string half_last = R"(%g = binary(%x, %p) kind=mul
      %y = binary(%half, %g) kind=mul)";
  const std::string half_of_x = R"(%h = binary(%x, %half) kind=mul
      %y = binary(%h, %p) kind=mul)";
  const std::string half_of_gate = R"(%h = binary(%half, %p) kind=mul
      %y = binary(%x, %h) kind=mul)";
  for (const std::string& cube : {products, power}) {
    for (const std::string& product : {half_last, half_of_x, half_of_gate}) {
      Graph g = graph(cube, product);
      EXPECT_EQ(run(fuse_activations, g), 1) << cube << product;
      run(remove_dead, g);
      EXPECT_EQ(g.live_node_count(), 1) << cube << product;
    }
  }
  Graph square = graph(R"(%q = binary(%x, %x) kind=mul
      %k = binary(%cubic, %q) kind=mul)",
                       half_last);
  EXPECT_EQ(run(fuse_activations, square), 0);
}

TEST(FuseActivations, TakesMishAndAHardSwishThatIsDividedLast) {
  Graph g = parse(R"(input %x : float32[8]
    input %z : float32[8]
    %three = constant float32[] {3}
    %six = constant float32[] {6}
    %sp = act(%x) kind=softplus
    %th = act(%sp) kind=tanh
    %mish = binary(%th, %x) kind=mul
    %a = binary(%x, %three) kind=add
    %c = act(%a) kind=clip alpha=0 beta=6
    %m = binary(%x, %c) kind=mul
    %h = binary(%m, %six) kind=div
    %other = act(%z) kind=softplus
    %gate = act(%other) kind=tanh
    %no = binary(%gate, %x) kind=mul
    output %mish
    output %h
    output %no)");
  EXPECT_EQ(run(fuse_activations, g), 2);
  run(remove_dead, g);
  EXPECT_EQ(g.live_node_count(), 5);
}

}  // namespace
}  // namespace enginery
