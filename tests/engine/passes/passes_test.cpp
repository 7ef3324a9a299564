// Each pass: what it changes, what it must leave alone, and that results stay the same.
#include <gtest/gtest.h>

#include <random>

#include "engine/graph/run_graph.h"
#include "engine/graph/text.h"
#include "engine/passes/canonicalize.h"
#include "engine/passes/fold_batch_norm.h"
#include "engine/passes/fold_constants.h"
#include "engine/passes/fuse_activations.h"
#include "engine/passes/fuse_vertical.h"
#include "engine/passes/merge_common.h"
#include "engine/passes/pass.h"
#include "engine/passes/remove_dead.h"
#include "engine/passes/remove_no_ops.h"

namespace enginery {
namespace {

Graph parse(const std::string& body) {
  auto graph = parse_graph("graph t {\n" + body + "\n}");
  EXPECT_TRUE(graph) << (graph ? "" : graph.error().message);
  return graph ? *graph : Graph();
}

const std::string kConv = "strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] groups=1";

std::map<std::string, Tensor> random_inputs(const Graph& graph, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<float> uniform(-2, 2);
  std::map<std::string, Tensor> out;
  for (ValueId v : graph.inputs()) {
    Tensor t(DataType::float32, graph.value(v).type.dims);
    for (float& x : t.mutable_data<float>()) x = uniform(random);
    out[graph.value(v).name] = t;
  }
  return out;
}

// Runs `before` and `after` on the same data and compares every output by position.
void expect_same_results(const Graph& before, const Graph& after, double tolerance = 1e-5) {
  ASSERT_TRUE(verify(after)) << verify(after).error().message;
  auto inputs = random_inputs(before, 11);
  auto a = run_graph(before, inputs), b = run_graph(after, inputs);
  ASSERT_TRUE(a);
  ASSERT_TRUE(b) << b.error().message;
  for (size_t i = 0; i < before.outputs().size(); ++i) {
    const Tensor& x = a->at(before.value(before.outputs()[i]).name);
    const Tensor& y = b->at(after.value(after.outputs()[i]).name);
    EXPECT_LE(relative_error(y, x), tolerance);
  }
}

int run(Result<int> (*pass)(Graph&), Graph& graph) {
  Graph before = graph;
  auto changed = pass(graph);
  EXPECT_TRUE(changed) << (changed ? "" : changed.error().message);
  expect_same_results(before, graph);
  return changed ? *changed : -1;
}

template <typename T>
int count(const Graph& graph) {
  int n = 0;
  for (NodeId id : graph.topological_order()) n += std::holds_alternative<T>(graph.node(id).op);
  return n;
}

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

TEST(RemoveDead, RemovesWhatNothingNeeds) {
  Graph g = parse(
      "input %x : float32[2]\n %y = act(%x) kind=relu\n %a = act(%x) kind=tanh\n %b = act(%a) "
      "kind=tanh\n output %y");
  EXPECT_EQ(run(remove_dead, g), 2);
}

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

TEST(RemoveNoOps, LeavesATransposeThatMovesElements) {
  Graph g = parse(
      "input %x : float32[2x2]\n %a = act(%x) kind=relu\n %c = transpose(%a) permutation=[1,0]\n "
      "%d = act(%c) kind=relu\n output %d");
  EXPECT_EQ(run(remove_no_ops, g), 0);
}

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

TEST(MergeCommon, KeepsNodesWithOtherAttributes) {
  Graph g = parse(
      "input %x : float32[4]\n %p = act(%x) kind=relu\n %q = act(%x) kind=tanh\n %r = binary(%p, "
      "%q) kind=add\n output %r");
  EXPECT_EQ(run(merge_common, g), 0);
}

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
  Graph g = parse(
      "input %x : float32[1x3x5x5]\n %w = constant float32[4x3x3x3] random(1)\n %s = constant "
      "float32[4x1x1] random(2)\n"
      "%c = conv(%x, %w) " +
      kConv + "\n %y = binary(%c, %s) kind=mul\n output %y\n output %c");
  EXPECT_EQ(run(fold_batch_norm, g), 0);
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

TEST(FuseVertical, LeavesAValueThatTwoNodesRead) {
  Graph g = parse(
      "input %x : float32[1x4x5x5]\n %w = constant float32[4x4x3x3] random(1)\n %c = conv(%x, "
      "%w) " +
      kConv + "\n %r = act(%c) kind=relu\n %t = act(%c) kind=tanh\n output %r\n output %t");
  EXPECT_EQ(run(fuse_vertical, g), 0);
}

TEST(Passes, LogAndSkipByName) {
  Graph g = parse("input %x : float32[2]\n %a = identity(%x)\n %y = act(%a) kind=relu\n output %y");
  std::vector<std::string> lines;
  PassOptions options;
  options.skip = {"remove_no_ops"};
  options.log = [&](const std::string& line) { lines.push_back(line); };
  ASSERT_TRUE(run_passes(g, options));
  EXPECT_EQ(lines.size(), pass_list().size() - 1);
  EXPECT_EQ(g.live_node_count(), 2);
  EXPECT_EQ(run_passes(g, {.skip = {"nope"}, .dump = {}, .log = {}}).error().code,
            ErrorCode::usage);
}

// Random graphs of convolutions, batch norms, element-wise operations and shapes through the whole
// list.
Graph random_graph(std::mt19937_64& random) {
  auto pick = [&](int n) { return static_cast<int>(random() % static_cast<uint64_t>(n)); };
  Graph g;
  std::vector<ValueId> values{g.add_input("x", {DataType::float32, {1, 4, 6, 6}})};
  auto weights = [&](Dims dims) {
    Tensor t(DataType::float32, dims);
    std::uniform_real_distribution<float> uniform(0.2f, 0.8f);
    for (float& v : t.mutable_data<float>()) v = uniform(random) * (pick(2) ? 1 : -1) * 0.4f;
    return g.add_constant("w", t);
  };
  auto positive = [&] {
    Tensor t(DataType::float32, {4});
    for (float& v : t.mutable_data<float>()) v = 0.5f + static_cast<float>(pick(100)) / 100;
    return g.add_constant("v", t);
  };
  for (int i = 0; i < 12; ++i) {
    ValueId x = values[static_cast<size_t>(pick(static_cast<int>(values.size())))];
    Op op;
    std::vector<ValueId> in{x};
    switch (pick(7)) {
      case 0:
        op = Convolution{{1, 1}, {1, 1}, {1, 1}, {1, 1}, 1}, in.push_back(weights({4, 4, 3, 3}));
        break;
      case 1:
        op = BatchNorm{1e-3f},
        in.insert(in.end(), {positive(), weights({4}), weights({4}), positive()});
        break;
      case 2:
        op = Activation{static_cast<ActivationKind>(pick(2) ? 0 : 6), 0, 0};
        break;
      case 3:
        op = Binary{BinaryKind::add},
        in.push_back(values[static_cast<size_t>(pick(static_cast<int>(values.size())))]);
        break;
      case 4:
        op = Binary{pick(2) ? BinaryKind::mul : BinaryKind::add},
        in.push_back(weights({1, 4, 1, 1}));
        break;
      case 5:
        op = Identity{};
        break;
      default:
        op = Pooling{PoolKind::max, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, false, false};
        break;
    }
    auto out = g.add_node("n" + std::to_string(i), op, in);
    EXPECT_TRUE(out) << (out ? "" : out.error().message);
    values.push_back((*out)[0]);
  }
  EXPECT_TRUE(g.mark_output(values.back()));
  EXPECT_TRUE(g.mark_output(values[values.size() / 2]));
  return g;
}

TEST(Passes, PreserveTheResultsOfRandomGraphs) {
  uint64_t seed = std::getenv("ENGINERY_TEST_SEED")
                      ? std::strtoull(std::getenv("ENGINERY_TEST_SEED"), nullptr, 10)
                      : 20261121;
  for (uint64_t i = 0; i < 60; ++i) {
    SCOPED_TRACE("ENGINERY_TEST_SEED=" + std::to_string(seed + i));
    std::mt19937_64 random(seed + i);
    Graph before = random_graph(random);
    if (before.is_output(before.inputs()[0])) continue;
    Graph after = before;
    ASSERT_TRUE(run_passes(after, {}));
    expect_same_results(before, after, 1e-4);
  }
}

}  // namespace
}  // namespace enginery
