#include "engine/passes/fold_batch_norm.h"

#include <gtest/gtest.h>

#include <set>

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

// Whoever looks at values by their names finds under each what the model has there.
TEST(FoldBatchNorm, WhatTheConvolutionMakesHasTheNameOfTheResult) {
  Graph g = parse(
      "input %x : float32[1x3x5x5]\n %w = constant float32[4x3x3x3] random(1)\n"
      "%s = constant float32[4] {1, 2, -1, 0.5}\n %v = constant float32[4] {1, 0.5, 2, 1}\n"
      "%c = conv(%x, %w) " +
      kConv +
      "\n %n = batch_norm(%c, %s, %s, %s, %v) epsilon=0\n %y = act(%n) kind=relu\n"
      "%z = act(%x) kind=relu\n %t = constant float32[3] {1, 2, 3}\n"
      "%d = batch_norm(%z, %t, %t, %t, %t) epsilon=0\n %e = act(%d) kind=tanh\n"
      "output %y\n output %e");
  EXPECT_EQ(run(fold_batch_norm, g), 2);
  std::set<std::string> made;
  for (const NodeId id : g.topological_order()) {
    const Node& node = g.node(id);
    const std::string name = g.value(node.outputs[0]).name;
    if (std::holds_alternative<Convolution>(node.op)) {
      EXPECT_EQ(name, "n") << to_text(g);
    }
    made.insert(name);
  }
  EXPECT_TRUE(made.contains("d")) << "the sum that a batch norm became\n" << to_text(g);
  EXPECT_FALSE(made.contains("c")) << to_text(g);
}

// A convolution of integers as weights, two channels of two each, with the scales `scale`.
Graph with_integer_weights(const std::string& scale, const std::string& elements,
                           const std::string& rest, const std::string& dequantize = "axis=0") {
  return parse("input %x : float32[1x2x3x3]\n %q = constant int8[2x2x1x1] {" + elements +
               "}\n %k = constant " + scale + "\n %w = dequantize(%q, %k) " + dequantize +
               "\n %c = conv(%x, %w) strides=[1,1] dilations=[1,1] pads_begin=[0,0] "
               "pads_end=[0,0] groups=1\n %s = constant float32[2] {2, -0.5}\n %t = constant "
               "float32[2] {1, 3}\n %v = constant float32[2] {1, 1}\n " +
               rest);
}

constexpr const char* kNormalized = "%y = batch_norm(%c, %s, %t, %t, %v) epsilon=0\n output %y";

const Node& weights_of_the_product(const Graph& g) {
  for (const NodeId id : g.topological_order()) {
    if (std::holds_alternative<Convolution>(g.node(id).op))
      return g.node(g.value(g.node(id).inputs[1]).producer);
  }
  ADD_FAILURE() << "no product";
  return g.node(0);
}

TEST(FoldBatchNorm, FoldsIntoTheScalesOfIntegerWeights) {
  for (const std::string scale : {"float32[2] {0.5, 0.25}", "float32[] {0.5}"}) {
    Graph g = with_integer_weights(scale, "1, -2, 3, 127", kNormalized);
    EXPECT_EQ(run(fold_batch_norm, g), 1) << scale;
    EXPECT_EQ(count<BatchNorm>(g) + count<Binary>(g), 0);
    const Node& made = weights_of_the_product(g);
    ASSERT_TRUE(std::holds_alternative<Dequantize>(made.op));
    const auto integers = g.constant(made.inputs[0])->data<int8_t>();
    EXPECT_EQ(std::vector<int8_t>(integers.begin(), integers.end()),
              (std::vector<int8_t>{1, -2, -3, -127}))
        << "the second channel's factor is negative";
    const auto scales = g.constant(made.inputs[1])->data<float>();
    ASSERT_EQ(scales.size(), 2u);
    EXPECT_EQ(scales[0], 1.0f);
    EXPECT_EQ(scales[1], scale.find("0.25") == std::string::npos ? 0.25f : 0.125f);
  }
}

TEST(FoldBatchNorm, AFactorOfZeroLeavesAScaleAboveZero) {
  Graph g = with_integer_weights(
      "float32[2] {0.5, 0.25}", "1, -2, 3, -128",
      "%z = constant float32[2x1x1] {0, 2}\n %y = binary(%c, %z) kind=mul\n output %y");
  EXPECT_EQ(run(fold_batch_norm, g), 1);
  const Node& made = weights_of_the_product(g);
  EXPECT_EQ(g.constant(made.inputs[0])->data<int8_t>()[0], 0);
  EXPECT_EQ(g.constant(made.inputs[1])->data<float>()[0], 1.0f);
  EXPECT_EQ(g.constant(made.inputs[1])->data<float>()[1], 0.5f);
}

// -128 has no negative, and a zero point would move.
TEST(FoldBatchNorm, LeavesIntegersThatCannotTakeTheFactors) {
  Graph least = with_integer_weights("float32[2] {0.5, 0.25}", "1, -2, 3, -128", kNormalized);
  run(fold_batch_norm, least);
  EXPECT_EQ(count<Binary>(least), 2) << "a product and a sum instead";
  Graph blocks = with_integer_weights("float32[2x1x1x1] {0.5, 0.25}", "1, -2, 3, 4", kNormalized,
                                      "axis=1 block_size=2");
  run(fold_batch_norm, blocks);
  EXPECT_EQ(count<Binary>(blocks), 2);
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
  for (const std::string reader : {"output %c", "%r = act(%c) kind=relu output %r"}) {
    Graph g = convolution_then(
        "%s = constant float32[4x1x1] random(2)\n %y = binary(%c, %s) kind=mul\n output %y\n" +
        reader);
    EXPECT_EQ(run(fold_batch_norm, g), 0) << reader;
  }
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

// What a convolution's result is combined with, and whether that is a scale or a shift of its
// channels, which the weights and the bias can take.
struct Combination {
  const char* line;
  int folds;
};

void PrintTo(const Combination& c, std::ostream* out) {
  *out << c.line;
}

class FoldsACombination : public ::testing::TestWithParam<Combination> {};

TEST_P(FoldsACombination, OnlyWhereItIsOneNumberAChannel) {
  Graph g = convolution_then(std::string(R"(input %r : float32[1x4x5x5]
    %channels = constant float32[4x1x1] {1, 2, 3, 4}
    %wide = constant float32[1x4x1x1] {1, 2, 3, 4}
    %rows = constant float32[5x1] {1, 2, 3, 4, 5}
    %one = constant float32[] {3}
    %deep = constant float32[1x1x1x1x1] {3}
    %plane = constant float32[4x5x5] random(5)
    %zeros = constant float32[4x1x1] {1, 0, 2, 3}
    %y = )") + GetParam().line +
                             "\n output %y");
  EXPECT_EQ(run(fold_batch_norm, g), GetParam().folds);
  EXPECT_EQ(count<Binary>(g), 1 - GetParam().folds);
}

INSTANTIATE_TEST_SUITE_P(
    FoldBatchNorm, FoldsACombination,
    ::testing::Values(Combination{"binary(%c, %channels) kind=mul", 1},
                      Combination{"binary(%channels, %c) kind=mul", 1},
                      Combination{"binary(%c, %wide) kind=add", 1},
                      Combination{"binary(%c, %channels) kind=sub", 1},
                      Combination{"binary(%c, %channels) kind=div", 1},
                      Combination{"binary(%c, %one) kind=mul", 1},
                      Combination{"binary(%c, %zeros) kind=mul", 1},
                      Combination{"binary(%channels, %c) kind=sub", 0},  // c - x
                      Combination{"binary(%channels, %c) kind=div", 0},  // c / x
                      Combination{"binary(%c, %channels) kind=max", 0},
                      Combination{"binary(%c, %rows) kind=mul", 0},   // along another axis
                      Combination{"binary(%c, %plane) kind=mul", 0},  // every element its own
                      Combination{"binary(%c, %deep) kind=mul", 0},   // raises the rank
                      Combination{"binary(%c, %r) kind=mul", 0},      // not a constant
                      Combination{"binary(%c, %c) kind=mul", 0}));    // read twice

// Infinite weights would make NaN of every zero that they meet.
TEST(FoldBatchNorm, LeavesADivisionByZero) {
  Graph g = convolution_then(
      "%s = constant float32[4x1x1] {1, 0, 2, 3}\n %y = binary(%c, %s) kind=div\n output %y");
  const auto changed = fold_batch_norm(g);
  ASSERT_TRUE(changed.ok());
  EXPECT_EQ(*changed, 0);
}

// As many rows as channels: one number a row is still not one a channel.
TEST(FoldBatchNorm, LeavesAScaleAlongAnotherAxisOfTheSameSize) {
  Graph g = parse(
      "input %x : float32[1x4x4x4]\n %w = constant float32[4x4x3x3] random(1)\n"
      "%s = constant float32[4x1] {1, 2, 3, 4}\n %c = conv(%x, %w) " +
      kConv + "\n %y = binary(%c, %s) kind=mul\n output %y");
  EXPECT_EQ(run(fold_batch_norm, g), 0);
}

TEST(FoldBatchNorm, LeavesWeightsAndBiasesThatAreNoConstants) {
  for (const std::string inputs : {"%x, %v", "%x, %w, %b"}) {
    Graph g = parse(
        "input %x : float32[1x4x5x5]\n input %v : float32[4x4x3x3]\n input %b : float32[4]\n"
        "%w = constant float32[4x4x3x3] random(1)\n %s = constant float32[4x1x1] random(2)\n"
        "%c = conv(" +
        inputs + ") " + kConv + "\n %y = binary(%c, %s) kind=mul\n output %y");
    EXPECT_EQ(run(fold_batch_norm, g), 0) << inputs;
  }
}

TEST(FoldBatchNorm, GivesAnotherReaderOfTheWeightsTheOldOnes) {
  Graph g = convolution_then(
      "%d = conv(%x, %w) " + kConv +
      "\n %s = constant float32[4x1x1] {1, 2, 3, 4}\n %y = binary(%c, %s) kind=mul\n output %y\n "
      "output %d");
  EXPECT_EQ(run(fold_batch_norm, g), 1);
}

TEST(FoldBatchNorm, FoldsAScaleAfterAShift) {
  Graph g = convolution_then(
      "%t = constant float32[4x1x1] {1, -2, 3, 4}\n %s = constant float32[4x1x1] {2, 3, -1, 0.5}\n"
      "%a = binary(%c, %t) kind=add\n %y = binary(%a, %s) kind=mul\n output %y");
  EXPECT_EQ(run(fold_batch_norm, g), 2);
  EXPECT_EQ(g.live_node_count(), 1);
}

// A matrix product has no bias: vertical fusion takes the addition.
TEST(FoldBatchNorm, LeavesAShiftOfAMatrixProduct) {
  for (const auto& [kind, folds] : {std::pair{"mul", 1}, {"add", 0}}) {
    Graph g = parse(
        "input %x : float32[2x3]\n %w = constant float32[3x4] random(1)\n %s = constant float32[4] "
        "{1, 2, 3, 4}\n %c = matmul(%x, %w)\n %y = binary(%c, %s) kind=" +
        std::string(kind) + "\n output %y");
    EXPECT_EQ(run(fold_batch_norm, g), folds) << kind;
  }
}

TEST(FoldBatchNorm, ScalesTheTransposedWeightsOfAGemm) {
  Graph g = parse(
      "input %x : float32[2x3]\n %w = constant float32[3x3] random(1)\n %s = constant float32[3] "
      "{1, 2, 3}\n %c = gemm(%x, %w) transpose_b=true\n %y = binary(%c, %s) kind=mul\n output %y");
  EXPECT_EQ(run(fold_batch_norm, g), 1);
}

// alpha scales the product and not what is added to it.
TEST(FoldBatchNorm, LeavesAGemmThatHasAFactor) {
  Graph g = parse(
      "input %x : float32[2x3]\n %w = constant float32[3x4] random(1)\n %s = constant float32[4] "
      "{1, 2, 3, 4}\n %c = gemm(%x, %w) alpha=2\n %y = binary(%c, %s) kind=add\n output %y");
  EXPECT_EQ(run(fold_batch_norm, g), 0);
}

}  // namespace
}  // namespace enginery
