#include "engine/passes/canonicalize.h"

#include <gtest/gtest.h>

#include "tests/engine/passes/passes_support.h"

namespace enginery {
namespace {

TEST(Canonicalize, TurnsMeansOverThePlaneIntoGlobalPooling) {
  Graph g = parse(R"(input %x : float32[1x3x4x4]
    %a = reduce(%x) kind=mean axes=[2,3] keep_dims=true none_is_identity=false
    %b = pool(%x) kind=average kernel=[4,4] strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0]
    %c = binary(%a, %b) kind=add
    output %c)");
  EXPECT_EQ(run(canonicalize, g), 2);
  EXPECT_EQ(count<GlobalPooling>(g), 2);
}

TEST(Canonicalize, FoldsGemmsScalars) {
  Graph g = parse(R"(input %x : float32[2x3]
    %w = constant float32[4x3] random(1)
    %b = constant float32[4] random(2)
    %y = gemm(%x, %w, %b) alpha=0.5 beta=2 transpose_a=false transpose_b=true
    output %y)");
  EXPECT_EQ(run(canonicalize, g), 1);
}

TEST(Canonicalize, TurnsScalesIntoSizesWhereTheySayTheSame) {
  auto scaled = [](const std::string& scales) {
    return parse("input %x : float32[1x3x4x5]\n %s = constant float32[4] {1," + scales + R"(}
      %y = resize(%x, %s) mode=linear coordinates=half_pixel
      output %y)");
  };
  Graph exact = scaled("1,2,3");
  EXPECT_EQ(run(canonicalize, exact), 1);
  EXPECT_EQ(exact.node(exact.topological_order().back()).inputs.size(), 3);
  EXPECT_EQ(run(canonicalize, exact), 0);
  Graph rounded = scaled("1,1.6,3");  // 6.4 rows become 6
  EXPECT_EQ(run(canonicalize, rounded), 0);
}

TEST(Canonicalize, LeavesAPoolingThatIsPadded) {
  const auto pooled = [](const std::string& pads) {
    return parse(
        "input %x : float32[1x2x3x3]\n %y = pool(%x) kind=average kernel=[3,3] strides=[3,3] "
        "dilations=[1,1] " +
        pads + " count_padding=true\n output %y");
  };
  Graph padded = pooled("pads_begin=[0,0] pads_end=[1,2]"),
        plain = pooled("pads_begin=[0,0] pads_end=[0,0]");
  EXPECT_EQ(run(canonicalize, padded), 0);
  EXPECT_EQ(run(canonicalize, plain), 1);
}

TEST(Canonicalize, LeavesASumOverThePlane) {
  Graph g = parse(R"(input %x : float32[1x2x3x3]
    %y = reduce(%x) kind=sum axes=[2,3] keep_dims=true none_is_identity=false
    output %y)");
  EXPECT_EQ(run(canonicalize, g), 0);
}

// Each is nearly a mean over the whole plane.
TEST(Canonicalize, LeavesReductionsThatAreNoGlobalPooling) {
  for (const std::string line :
       {"reduce(%x) kind=mean axes=[2] keep_dims=true", "reduce(%x) kind=mean axes=[1,2,3]",
        "reduce(%x) kind=mean axes=[2,3] keep_dims=false", "reduce(%x) kind=mean axes=[0,3]",
        "reduce(%x) kind=min axes=[2,3]", "reduce(%x) kind=mean"}) {
    Graph g = parse("input %x : float32[2x3x4x4]\n %y = " + line + "\n output %y");
    EXPECT_EQ(run(canonicalize, g), 0) << line;
  }
}

TEST(Canonicalize, CountsAxesFromTheEndAndInAnyOrder) {
  for (const std::string axes : {"[-1,2]", "[3,2]", "[-2,-1]"}) {
    Graph g = parse("input %x : float32[2x3x4x4]\n %y = reduce(%x) kind=max axes=" + axes +
                    "\n output %y");
    EXPECT_EQ(run(canonicalize, g), 1) << axes;
  }
}

TEST(Canonicalize, LeavesAPoolingThatIsSmallerThanThePlaneOrDilated) {
  for (const std::string window :
       {"kernel=[3,2] dilations=[1,1]", "kernel=[2,3] dilations=[2,1]"}) {
    Graph g = parse(
        "input %x : float32[1x2x3x3]\n %y = pool(%x) kind=max strides=[1,1] "
        "pads_begin=[0,0] pads_end=[0,0] " +
        window + "\n output %y");
    EXPECT_EQ(run(canonicalize, g), 0) << window;
  }
}

TEST(Canonicalize, LeavesAGemmWhoseOperandsAreNotConstant) {
  for (const std::string inputs : {"%x, %v, %b", "%x, %w, %c"}) {
    Graph g = parse(
        "input %x : float32[2x3]\n input %v : float32[3x4]\n input %c : float32[4]\n"
        "%w = constant float32[3x4] random(1)\n %b = constant float32[4] random(2)\n %y = gemm(" +
        inputs + ") alpha=0.5 beta=2\n output %y");
    EXPECT_EQ(run(canonicalize, g), 0) << inputs;
  }
}

TEST(Canonicalize, FoldsAlphaWithoutC) {
  Graph g = parse(
      "input %x : float32[2x3]\n %w = constant float32[3x4] random(1)\n %y = gemm(%x, %w) alpha=3 "
      "beta=7\n output %y");
  EXPECT_EQ(run(canonicalize, g), 1);
  EXPECT_EQ(run(canonicalize, g), 0);
}

TEST(Canonicalize, KeepsTheScalesOfACrop) {
  Graph g = parse(R"(input %x : float32[1x4]
    %s = constant float32[2] {1, 2}
    %roi = constant float32[4] {0, 0, 1, 0.5}
    %y = resize(%x, %s, _, %roi) mode=linear coordinates=crop
    output %y)");
  EXPECT_EQ(run(canonicalize, g), 0);
}

// x with the constant `other` by `kind`.
Graph with_constant(const std::string& other, const std::string& kind) {
  return parse("input %x : float32[2x3]\n %e = constant " + other +
               "\n %y = binary(%x, %e) kind=" + kind + "\n output %y");
}

TEST(Canonicalize, TurnsExactPowersIntoProducts) {
  for (const std::string two : {"float32[] {2}", "float32[1x1] {2}", "int64[1] {2}"}) {
    Graph g = with_constant(two, "pow");
    EXPECT_EQ(run(canonicalize, g), 1) << two;
    EXPECT_EQ(std::get<Binary>(node_named(g, "y").op).kind, BinaryKind::mul);
  }
  Graph inverse = with_constant("float32[] {-1}", "pow");
  EXPECT_EQ(run(canonicalize, inverse), 1);
  EXPECT_EQ(count<Unary>(inverse), 1);
  for (const std::string other : {"float32[] {3}", "float32[] {0.5}", "float32[] {-2}",
                                  "float32[1x1x1] {2}", "float32[3] {2, 2, 2}"}) {
    Graph g = with_constant(other, "pow");
    EXPECT_EQ(run(canonicalize, g), 0) << other;
  }
}

TEST(Canonicalize, TurnsPlanesThatAFilterTakesWholeIntoChannels) {
  const auto film = [](const std::string& along, const std::string& planes,
                       const std::string& groups) {
    return parse("input %x : float32[2x2x" + planes + "x6x5]\n %w = constant float32[4x" +
                 (groups == "1" ? "2" : "1") +
                 "x2x3x2] random(1)\n"
                 " %b = constant float32[4] random(2)\n %y = conv(%x, %w, %b) " +
                 along + " groups=" + groups + "\n output %y");
  };
  const std::string apart = "strides=[2,2,1] dilations=[1,1,2] pads_begin=[0,1,0] pads_end=[0,0,1]";
  Graph g = film(apart, "6", "1");
  EXPECT_EQ(run(canonicalize, g), 1);
  EXPECT_EQ(g.value(g.outputs()[0]).type.dims, (Dims{2, 4, 3, 3, 4}));
  EXPECT_EQ(count<Convolution>(g), 1);
  for (const NodeId id : g.topological_order()) {
    if (const auto* op = std::get_if<Convolution>(&g.node(id).op)) {
      EXPECT_EQ(op->strides, (std::vector<int64_t>{2, 1}));
    }
  }
  EXPECT_EQ(run(canonicalize, g), 0);
  Graph a_rest = film(apart, "7", "1"), groups = film(apart, "6", "2"),
        over =
            film("strides=[1,2,1] dilations=[1,1,1] pads_begin=[0,0,0] pads_end=[0,0,0]", "6", "1"),
        padded =
            film("strides=[2,2,1] dilations=[1,1,1] pads_begin=[1,0,0] pads_end=[1,0,0]", "6", "1");
  for (Graph* other : {&a_rest, &groups, &over, &padded}) EXPECT_EQ(run(canonicalize, *other), 0);
}

TEST(Canonicalize, TurnsADifferenceWithConstantsIntoASum) {
  Graph g = with_constant("float32[3] {1, -2, 0}", "sub");
  EXPECT_EQ(run(canonicalize, g), 1);
  EXPECT_EQ(std::get<Binary>(node_named(g, "y").op).kind, BinaryKind::add);
  Graph first = parse(
      "input %x : float32[2x3]\n %e = constant float32[3] {1, 2, 3}\n %y = binary(%e, %x) "
      "kind=sub\n output %y");
  EXPECT_EQ(run(canonicalize, first), 0);
}

TEST(Canonicalize, TurnsOneBoundIntoAClip) {
  for (const std::string kind : {"min", "max"}) {
    Graph g = with_constant("float32[1] {0.5}", kind);
    EXPECT_EQ(run(canonicalize, g), 1) << kind;
    EXPECT_EQ(count<Activation>(g), 1) << kind;
  }
  for (const std::string bounds :
       {"float32[3] {0, 1, 2}", "float32[1x1x1] {0.5}", "float32[] {nan}"}) {
    Graph g = with_constant(bounds, "max");
    EXPECT_EQ(run(canonicalize, g), 0) << bounds;
  }
}

// Kernels take exponents of the type of what they raise.
TEST(Canonicalize, TurnsWholeExponentsIntoFloats) {
  for (const std::string whole : {"int64[] {3}", "int32[3] {1, -2, 4}"}) {
    Graph g = with_constant(whole, "pow");
    EXPECT_EQ(run(canonicalize, g), 1) << whole;
    const Tensor* exponents = g.constant(node_named(g, "y").inputs[1]);
    ASSERT_NE(exponents, nullptr);
    EXPECT_EQ(exponents->type(), DataType::float32);
  }
  Graph too_large = with_constant("int64[] {16777217}", "pow");
  EXPECT_EQ(run(canonicalize, too_large), 0);
}

TEST(Canonicalize, TurnsADivisionByPowersOfTwoIntoAProduct) {
  Graph eighth = with_constant("float32[] {8}", "div"),
        each = with_constant("float32[3] {0.5, -4, 1}", "div");
  EXPECT_EQ(run(canonicalize, eighth), 1);
  EXPECT_EQ(run(canonicalize, each), 1);
  const auto factors = eighth.constant(node_named(eighth, "y").inputs[1]);
  ASSERT_TRUE(factors);
  EXPECT_EQ(factors->data<float>()[0], 0.125f);
  for (const std::string other : {"float32[] {3}", "float32[3] {2, 2, 5}", "float32[] {0}"}) {
    Graph g = with_constant(other, "div");
    const auto changed = canonicalize(g);
    ASSERT_TRUE(changed.ok());
    EXPECT_EQ(*changed, 0) << other;
  }
}

}  // namespace
}  // namespace enginery
