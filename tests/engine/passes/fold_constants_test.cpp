#include "engine/passes/fold_constants.h"

#include <gtest/gtest.h>

#include "tests/engine/passes/passes_support.h"

namespace enginery {
namespace {

TEST(FoldConstants, ComputesShapesAndChainsOfConstants) {
  Graph g = parse(R"(input %x : float32[2x3x4]
    %s = shape(%x)
    %i = constant int64[1] {0}
    %n = gather(%s, %i) axis=0
    %m = constant int64[1] {-1}
    %t = concat(%n, %m) axis=0
    %y = reshape(%x, %t)
    output %y)");
  EXPECT_EQ(run(fold_constants, g), 3);
  EXPECT_EQ(g.live_node_count(), 1);
}

// %d is made of integers, %v of constant ones; %y is how the row uses them.
Graph with_quantized_weights(const std::string& use) {
  return parse(
      "input %f : float32[1x2x4x4]\n %s = constant float32[] {0.5}\n %w "
      "= constant int8[3x2x1x1] fill(4)\n %x = quantize(%f, %s)\n %d = dequantize(%x, %s)\n %v = "
      "dequantize(%w, %s)\n " +
      use + "\n output %y");
}

constexpr const char* kPointwise = " strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0]";

TEST(FoldConstants, LeavesQuantizedWeightsToProductsOfQuantizedNumbers) {
  Graph g = with_quantized_weights("%y = conv(%d, %v)" + std::string(kPointwise));
  EXPECT_EQ(run(fold_constants, g), 0);
}

TEST(FoldConstants, ComputesQuantizedWeightsThatFloatsAreMultipliedWith) {
  for (const std::string& use :
       {"%y = conv(%f, %v)" + std::string(kPointwise), std::string("%y = reshape(%v, %t)")}) {
    Graph g = with_quantized_weights("%t = constant int64[1] {6}\n " + use);
    EXPECT_GE(run(fold_constants, g), 1) << use;
  }
}

// Its factors go into the weights' scales.
TEST(FoldConstants, LeavesQuantizedWeightsBeforeANormalization) {
  Graph g = with_quantized_weights(
      "%c = conv(%d, %v)" + std::string(kPointwise) +
      "\n %p = constant float32[3] {1, 2, 3}\n %y = batch_norm(%c, %p, %p, %p, %p)");
  EXPECT_EQ(run(fold_constants, g), 0);
}

TEST(FoldConstants, LeavesWhatDependsOnAnInput) {
  Graph g = parse("input %x : float32[2]\n %y = act(%x) kind=relu\n output %y");
  EXPECT_EQ(run(fold_constants, g), 0);
}

TEST(FoldConstants, KeepsAnOutputThatBecomesConstant) {
  Graph g = parse(
      "input %x : float32[2]\n %c = constant float32[2] {1, -2}\n %y = act(%c) kind=relu\n %z = "
      "act(%x) kind=relu\n output %y\n output %z");
  EXPECT_EQ(run(fold_constants, g), 1);
  EXPECT_TRUE(g.constant(g.outputs()[0]));
}

TEST(FoldConstants, LeavesAResultTooLargeToStore) {
  Graph g = parse(R"(%s = constant int64[2] {4097, 4096}
    %y = fill(%s) type=float32 value=1
    output %y)");
  const auto changed = fold_constants(g);
  ASSERT_TRUE(changed.ok());
  EXPECT_EQ(*changed, 0) << "4097 x 4096 floats are more than 64 MiB";
}

TEST(FoldConstants, LeavesAShapeThatIsKnownAtRunTimeOnly) {
  Graph g = parse("input %x : float32[?x3]\n %s = shape(%x)\n output %s");
  const auto changed = fold_constants(g);
  ASSERT_TRUE(changed.ok());
  EXPECT_EQ(*changed, 0);
}

TEST(FoldConstants, TakesAPartOfAShape) {
  Graph g = parse("input %x : float32[2x3x4]\n %s = shape(%x) start=-2 end=100\n output %s");
  EXPECT_EQ(run(fold_constants, g), 1);
  EXPECT_EQ(to_int64s(*g.constant(g.outputs()[0])), (std::vector<int64_t>{3, 4}));
}

TEST(FoldConstants, MakesSizesKnownThatDependOnAFoldedShape) {
  Graph g = parse(R"(input %x : float32[2x3]
    %s = shape(%x)
    %y = expand(%x, %s)
    output %y)");
  EXPECT_EQ(run(fold_constants, g), 1);
  EXPECT_EQ(g.value(g.outputs()[0]).type.dims, (Dims{2, 3}));
}

TEST(FoldConstants, NamesTheNodeWhoseConstantsContradict) {
  Graph g = parse(R"(%a = constant int64[1] {1}
    %zero = constant int64[1] {0}
    %q = binary(%a, %zero) kind=div
    output %q)");
  const auto changed = fold_constants(g);
  ASSERT_FALSE(changed.ok());
  EXPECT_EQ(changed.error().message, "node 'q': binary: an integer is divided by zero");
}

// The places of extremes have a known size whatever %r has; of no elements there are none.
TEST(FoldConstants, NamesTheNodeThatASizeDoesNotSuit) {
  Graph g = parse(R"(input %x : float32[2x3]
    %n = constant int64[1] {2}
    %two = constant int64[1] {2}
    %k = binary(%n, %two) kind=sub
    %values, %places = top_k(%x, %k) axis=1
    %y = arg_extreme(%values) axis=1 keep_dims=false
    output %y)");
  const auto changed = fold_constants(g);
  ASSERT_FALSE(changed.ok());
  EXPECT_EQ(changed.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(changed.error().message, "node 'y': arg_extreme: axis 1 of 2x0 has no elements");
}

TEST(FoldConstants, FoldsEveryOutputOfANode) {
  Graph g = parse(R"(input %x : float32[2]
    %c = constant float32[3] {1, 2, 3}
    %a, %b = split(%c) axis=0 sizes=[1,2]
    %p = binary(%x, %a) kind=mul
    %y = binary(%p, %b) kind=add
    output %y)");
  EXPECT_EQ(run(fold_constants, g), 1);
  EXPECT_EQ(g.live_node_count(), 2);
}

// %m would take 2 GFLOP.
TEST(FoldConstants, ComputesNothingThatNoOutputNeeds) {
  Graph g = parse(R"(input %x : float32[2]
    %s = constant int64[2] {1000, 1000}
    %a = fill(%s) value=1
    %m = matmul(%a, %a)
    %y = act(%x) kind=relu
    output %y)");
  g.limits.folded_gflop = 1;
  EXPECT_EQ(run(fold_constants, g), 2);
  EXPECT_EQ(g.live_node_count(), 1);
}

// %a and %b hold 512 KiB each.
TEST(FoldConstants, StopsAtTheLimitOnBytes) {
  Graph g = parse(R"(input %x : float32[131072]
    %s = constant int64[1] {131072}
    %a = fill(%s) value=1
    %b = fill(%s) value=2
    %c = fill(%s) value=3
    %p = binary(%x, %a) kind=add
    %q = binary(%p, %b) kind=add
    %y = binary(%q, %c) kind=add
    output %y)");
  g.limits.folded_mib = 1;
  EXPECT_EQ(run(fold_constants, g), 2);
}

// 1 GiB, which nobody reads to know its size.
TEST(FoldConstants, TheSizeOfALargeValueIsNoWork) {
  Graph g = parse(R"(input %x : float32[16384x16384]
    %n = shape(%x)
    %c = cast(%n) to=float32
    output %c)");
  g.limits.folded_gflop = 1;
  const auto folded = fold_constants(g);
  ASSERT_TRUE(folded.ok()) << folded.error().message;
  EXPECT_EQ(*folded, 2);
}

// Each of %a to %d holds 512 KiB; the sums on the way need not be kept, their end is small.
TEST(FoldConstants, KeepsOnlyWhatOthersThanConstantsRead) {
  Graph g = parse(R"(input %x : float32[1]
    %s = constant int64[1] {131072}
    %a = fill(%s) value=1
    %b = fill(%s) value=2
    %c = fill(%s) value=3
    %d = fill(%s) value=4
    %p = binary(%a, %b) kind=add
    %q = binary(%p, %c) kind=add
    %r = binary(%q, %d) kind=add
    %t = reduce(%r) kind=sum axes=[0] keep_dims=true
    %y = binary(%x, %t) kind=add
    output %y)");
  g.limits.folded_mib = 1;
  EXPECT_EQ(run(fold_constants, g), 8);
  ASSERT_EQ(g.live_node_count(), 1);
  EXPECT_FLOAT_EQ(g.constant(g.node(g.topological_order()[0]).inputs[1])->data<float>()[0],
                  10 * 131072);
  int64_t held = 0;
  for (ValueId v = 0; v < g.value_count(); ++v) held += g.constant(v) ? g.constant(v)->bytes() : 0;
  EXPECT_LT(held, 64) << "what only constants read is dropped";
}

// %a was for %w alone, which may be held but not kept: both stay, although %a was dropped.
TEST(FoldConstants, ComputesInTheEngineWhatItMayNotKeep) {
  Graph g = parse(R"(input %x : float32[524288]
    %s = constant int64[1] {131072}
    %a = fill(%s) value=1
    %w = concat(%a, %a, %a, %a) axis=0
    %z = act(%w) kind=relu
    %y = binary(%x, %z) kind=add
    output %y)");
  g.limits.folded_mib = 1;
  EXPECT_EQ(run(fold_constants, g), 0);
  EXPECT_EQ(g.live_node_count(), 4);
  for (ValueId v = 0; v < g.value_count(); ++v) {
    if (g.value(v).producer == kNoNode) continue;
    EXPECT_FALSE(g.constant(v)) << g.value(v).name;
  }
}

// The sizes are small and cost nothing: shape rules need them, however full the budget is.
TEST(FoldConstants, KeepsSizesWhenNothingElseMayBeKept) {
  Graph g = parse(R"(input %x : float32[131072x2]
    %s = constant int64[2] {131072, 2}
    %a = fill(%s) value=1
    %n = shape(%x)
    %one = constant int64[2] {1, 1}
    %m = binary(%n, %one) kind=mul
    %r = reshape(%x, %m)
    %p = binary(%r, %a) kind=add
    %b = fill(%s) value=2
    %y = binary(%p, %b) kind=add
    output %y)");
  g.limits.folded_mib = 1;
  EXPECT_EQ(run(fold_constants, g), 3) << "%a fills the budget; %n and %m are small; %b stays";
}

// Its result could not be kept, but the engine would do the work in every run.
TEST(FoldConstants, RefusesWorkThatItWouldLeaveToTheEngine) {
  Graph g = parse(R"(%s = constant int64[2] {1100, 1100}
    %a = fill(%s) value=1
    %y = matmul(%a, %a)
    output %y)");
  g.limits.folded_mib = 1;
  g.limits.folded_gflop = 1;
  const auto folded = fold_constants(g);
  ASSERT_FALSE(folded.ok());
  EXPECT_NE(folded.error().message.find("node 'y' (matmul)"), std::string::npos);
}

TEST(FoldConstants, RefusesWorkAboveTheLimitAndNamesIt) {
  Graph g = parse(R"(input %x : float32[1]
    %s = constant int64[2] {1000, 1000}
    %a = fill(%s) value=1
    %m = matmul(%a, %a)
    %r = reduce(%m) kind=sum axes=[0,1] keep_dims=false
    %y = binary(%x, %r) kind=add
    output %y)");
  g.limits.folded_gflop = 1;
  const auto folded = fold_constants(g);
  ASSERT_FALSE(folded.ok());
  EXPECT_EQ(folded.error().code, ErrorCode::unsupported);
  const std::string& message = folded.error().message;
  EXPECT_NE(message.find("node 'm' (matmul)"), std::string::npos) << message;
  EXPECT_NE(message.find("takes 3 GFLOP, more than 1; --limit folded_gflop=3 allows it"),
            std::string::npos)
      << message;
  g.limits.folded_gflop = 3;
  EXPECT_TRUE(fold_constants(g).ok());
}

}  // namespace
}  // namespace enginery
