#include "engine/passes/fuse_normalizations.h"

#include <gtest/gtest.h>

#include "engine/passes/pass.h"
#include "engine/passes/remove_dead.h"
#include "tests/engine/passes/passes_support.h"

namespace enginery {
namespace {

// %y of %x in pieces, as exporters write them: `square` and `root` say how, `affine` what follows.
Graph pieces(const std::string& square, const std::string& root, const std::string& affine,
             const std::string& constants = "") {
  return parse(R"(input %x : float32[2x3x4x8]
    %two = constant float32[] {2}
    %half = constant float32[] {0.5}
    %minus_half = constant float32[] {-0.5}
    %one = constant float32[] {1}
    %epsilon = constant float32[] {0.001}
    %g = constant float32[8] random(1)
    %b = constant float32[8] random(2)
    )" + constants +
               R"(
    %m = reduce(%x) kind=mean axes=[-1] keep_dims=true
    %c = binary(%x, %m) kind=sub
    )" + square +
               R"(
    %v = reduce(%s) kind=mean axes=[3] keep_dims=true
    %r = binary(%v, %epsilon) kind=add
    )" + root + "\n" +
               affine);
}

constexpr const char* kSquare = "%s = binary(%c, %c) kind=mul";
constexpr const char* kRoot = "%d = unary(%r) kind=sqrt\n %n = binary(%c, %d) kind=div";
constexpr const char* kAffine =
    "%p = binary(%n, %g) kind=mul\n %y = binary(%p, %b) kind=add\n output %y";

// The only node that is left once the pieces are gone.
template <typename Norm>
void expect_one(Graph g, size_t inputs) {
  const std::string before = to_text(g);
  EXPECT_EQ(run(fuse_normalizations, g), 1) << before;
  run(remove_dead, g);
  EXPECT_EQ(g.live_node_count(), 1) << to_text(g);
  EXPECT_EQ(count<Norm>(g), 1) << to_text(g);
  EXPECT_EQ(g.node(g.topological_order()[0]).inputs.size(), inputs);
}

TEST(FuseNormalizations, TakesALayerNormHoweverItsRootIsWritten) {
  for (const std::string square : {kSquare, "%s = binary(%c, %two) kind=pow"}) {
    for (const std::string root :
         {kRoot, "%d = binary(%r, %half) kind=pow\n %n = binary(%c, %d) kind=div",
          "%d = unary(%r) kind=sqrt\n %i = unary(%d) kind=reciprocal\n %n = binary(%c, %i) "
          "kind=mul",
          "%d = unary(%r) kind=sqrt\n %i = binary(%one, %d) kind=div\n %n = binary(%i, %c) "
          "kind=mul",
          "%i = binary(%r, %minus_half) kind=pow\n %n = binary(%c, %i) kind=mul"})
      expect_one<LayerNorm>(pieces(square, root, kAffine), 3);
  }
}

TEST(FuseNormalizations, TakesScaleAndBiasWhereTheyAre) {
  expect_one<LayerNorm>(pieces(kSquare, kRoot, "output %n"), 2);
  expect_one<LayerNorm>(pieces(kSquare, kRoot, "%y = binary(%g, %n) kind=mul\n output %y"), 2);
  expect_one<LayerNorm>(pieces(kSquare, kRoot, "%y = binary(%n, %b) kind=add\n output %y"), 3);
  expect_one<LayerNorm>(pieces(kSquare, kRoot, "%y = binary(%n, %two) kind=mul\n output %y"), 2);
  expect_one<LayerNorm>(pieces(kSquare, kRoot, "%y = binary(%n, %k) kind=mul\n output %y",
                               "%k = constant float32[1x1x1x8] random(3)"),
                        2);
}

// What is no scale of a row stays behind the normalisation.
TEST(FuseNormalizations, LeavesFactorsThatARowDoesNotRepeat) {
  for (const std::string constant :
       {"%k = constant float32[4x1] random(3)", "%k = constant float32[1x2x3x4x8] random(3)",
        "%k = constant float32[2x3x4x8] random(3)"}) {
    Graph g = pieces(kSquare, kRoot, "%y = binary(%n, %k) kind=mul\n output %y", constant);
    EXPECT_EQ(run(fuse_normalizations, g), 1) << constant;
    run(remove_dead, g);
    EXPECT_EQ(count<LayerNorm>(g), 1) << constant;
    EXPECT_EQ(count<Binary>(g), 1) << constant;
  }
}

TEST(FuseNormalizations, LeavesAScaleWhoseOperandSomethingElseReads) {
  Graph g = pieces(kSquare, kRoot, "%y = binary(%n, %g) kind=mul\n output %y\n output %n");
  EXPECT_EQ(run(fuse_normalizations, g), 1);
  run(remove_dead, g);
  EXPECT_EQ(count<Binary>(g), 1);
}

TEST(FuseNormalizations, TakesWhatCanonicalizeMadeOfTheMeans) {
  Graph g = parse(R"(input %x : float32[2x5x8]
    %two = constant float32[] {2}
    %epsilon = constant float32[] {0.001}
    %g = constant float32[8] random(1)
    %m = reduce(%x) kind=mean axes=[-1] keep_dims=true
    %c = binary(%x, %m) kind=sub
    %k = binary(%x, %m) kind=sub
    %s = binary(%k, %two) kind=pow
    %v = reduce(%s) kind=mean axes=[-1] keep_dims=true
    %r = binary(%epsilon, %v) kind=add
    %d = unary(%r) kind=sqrt
    %n = binary(%c, %d) kind=div
    %y = binary(%n, %g) kind=mul
    output %y)");
  const Graph before = g;
  ASSERT_TRUE(run_passes(g, {}));
  expect_same_results(before, g);
  EXPECT_EQ(g.live_node_count(), 1) << to_text(g);
  EXPECT_EQ(count<LayerNorm>(g), 1);
}

TEST(FuseNormalizations, TakesAnRmsNorm) {
  const auto rms = [](const std::string& tail) {
    return parse(R"(input %x : float32[2x5x8]
      %epsilon = constant float32[] {0.001}
      %one = constant float32[] {1}
      %g = constant float32[8] random(1)
      %s = binary(%x, %x) kind=mul
      %v = reduce(%s) kind=mean axes=[2] keep_dims=true
      %r = binary(%v, %epsilon) kind=add
      %d = unary(%r) kind=sqrt
      )" + tail);
  };
  expect_one<RmsNorm>(rms("%n = binary(%x, %d) kind=div\n %y = binary(%g, %n) kind=mul\n"
                          "output %y"),
                      2);
  expect_one<RmsNorm>(rms("%i = binary(%one, %d) kind=div\n %y = binary(%x, %i) kind=mul\n"
                          "output %y"),
                      2);
}

// Everything that is almost a layer normalisation.
TEST(FuseNormalizations, LeavesWhatOnlyLooksLikeOne) {
  struct Row {
    std::string mean, variance, quotient;
  };
  const Row kGood{"reduce(%x) kind=mean axes=[3] keep_dims=true",
                  "reduce(%s) kind=mean axes=[3] keep_dims=true", "binary(%c, %d) kind=div"};
  const auto graph = [](const Row& row) {
    return parse(
        "input %x : float32[2x3x4x8]\n input %z : float32[2x3x4x8]\n"
        "%epsilon = constant float32[] {0.001}\n %m = " +
        row.mean +
        "\n %c = binary(%x, %m) kind=sub\n %s = binary(%c, %c) kind=mul\n %v = " + row.variance +
        "\n %r = binary(%v, %epsilon) kind=add\n %d = unary(%r) kind=sqrt\n %y = " + row.quotient +
        "\n output %y");
  };
  Graph good = graph(kGood);
  EXPECT_EQ(run(fuse_normalizations, good), 1);
  EXPECT_EQ(count<LayerNorm>(good), 1);
  for (const Row& row :
       {Row{kGood.mean, kGood.variance, "binary(%d, %c) kind=div"},
        Row{kGood.mean, kGood.variance, "binary(%c, %d) kind=mul"},
        Row{kGood.mean, kGood.variance, "binary(%z, %d) kind=div"},
        Row{kGood.mean, "reduce(%s) kind=sum axes=[3] keep_dims=true", kGood.quotient},
        Row{kGood.mean, "reduce(%s) kind=mean axes=[2] keep_dims=true", kGood.quotient},
        Row{kGood.mean, "reduce(%s) kind=mean axes=[1,3] keep_dims=true", kGood.quotient}}) {
    Graph g = graph(row);
    EXPECT_EQ(run(fuse_normalizations, g), 0) << row.mean << row.variance << row.quotient;
  }
  // Another mean: what is left is the RMS of a difference.
  for (const std::string mean : {"reduce(%x) kind=mean axes=[2,3] keep_dims=true",
                                 "reduce(%z) kind=mean axes=[3] keep_dims=true"}) {
    Graph g = graph({mean, kGood.variance, kGood.quotient});
    EXPECT_EQ(run(fuse_normalizations, g), 1) << mean;
    EXPECT_EQ(count<LayerNorm>(g), 0) << mean;
    EXPECT_EQ(count<RmsNorm>(g), 1) << mean;
  }
}

// As PyTorch exports nn.GroupNorm.
TEST(FuseNormalizations, TakesAGroupNormBetweenReshapes) {
  const auto exported = [](const std::string& shape, const std::string& back) {
    return parse(R"(input %x : float32[2x6x4x5]
      %groups = constant int64[3] )" +
                 shape + R"(
      %shape = constant int64[4] )" +
                 back + R"(
      %ones = constant float32[3] {1, 1, 2}
      %zeros = constant float32[3] {0, 0.5, 0}
      %g = constant float32[6x1x1] random(1)
      %b = constant float32[6x1x1] random(2)
      %a = reshape(%x, %groups)
      %n = instance_norm(%a, %ones, %zeros) epsilon=0.001
      %t = reshape(%n, %shape)
      %p = binary(%t, %g) kind=mul
      %y = binary(%p, %b) kind=add
      output %y)");
  };
  expect_one<GroupNorm>(exported("{0, 3, -1}", "{2, 6, 4, 5}"), 3);
  Graph other_images = exported("{1, 3, -1}", "{2, 6, 4, 5}"),
        other_shape = exported("{0, 3, -1}", "{2, 6, 5, 4}");
  EXPECT_EQ(run(fuse_normalizations, other_images), 0);
  EXPECT_EQ(run(fuse_normalizations, other_shape), 0);
}

}  // namespace
}  // namespace enginery
