#include "engine/passes/sink_transposes.h"

#include <gtest/gtest.h>

#include "engine/passes/permutation.h"
#include "tests/engine/passes/passes_support.h"

namespace enginery {
namespace {

const std::string kToRows = " permutation=[0,2,3,1]\n", kToPlanes = " permutation=[0,3,1,2]\n";

// %t is %x [2, 3, 4, 5] with the channels last; `rest` makes %y of it.
Graph channels_last(const std::string& rest) {
  return parse(
      "input %x : float32[2x3x4x5]\n input %z : float32[2x3x4x5]\n"
      "input %r : float32[2x4x5x3]\n input %q : float32[2x4x3x5]\n %k = constant float32[3] "
      "random(1)\n"
      "%e = constant float32[4x1x3] random(2)\n %one = constant float32[] {0.5}\n"
      "%rows = constant int64[3] {2, 20, 3}\n %merged = constant int64[2] {8, 15}\n"
      "%split = constant int64[5] {2, 4, 5, 3, 1}\n %t = transpose(%x)" +
      kToRows + rest + "\n output %y");
}

struct SinkCase {
  const char* what;
  std::string rest;
  int saved, left;  // transposes
};

class SinkTransposes : public testing::TestWithParam<SinkCase> {};

TEST_P(SinkTransposes, SavesWhatItCanAndKeepsTheResults) {
  Graph g = channels_last(GetParam().rest);
  EXPECT_EQ(run(sink_transposes, g), GetParam().saved);
  EXPECT_EQ(count<Transpose>(g), GetParam().left) << to_text(g);
}

const SinkCase kSinkCases[] = {
    {"CancelsWithTheNext",
     "%u = act(%t) kind=relu\n %v = transpose(%u)" + kToPlanes + "%y = unary(%v) kind=neg", 1, 0},
    {"BecomesOneWithTheNext", "%y = transpose(%t) permutation=[1,0,2,3]", 1, 1},
    {"MovesTheConstantBeside",
     "%u = binary(%k, %t) kind=sub\n %v = binary(%u, %e) kind=mul\n"
     "%w = binary(%v, %one) kind=add\n %p = transpose(%w)" +
         kToPlanes + "%y = unary(%p) kind=neg",
     1, 0},
    {"CrossesCastsAndUnaries",
     "%u = unary(%t) kind=abs\n %v = cast(%u) to=float16\n"
     "%p = transpose(%v)" +
         kToPlanes + "%y = cast(%p) to=float32",
     1, 0},
    {"StandsOnceBelowTheSumOfTwo", "%u = transpose(%z)" + kToRows + "%y = binary(%u, %t) kind=sub",
     1, 1},
    {"GoesOnBelowTheSumOfTwo",
     "%u = transpose(%z)" + kToRows +
         "%v = binary(%t, %u) kind=add\n %a = act(%v) kind=relu\n"
         "%p = transpose(%a)" +
         kToPlanes + "%y = unary(%p) kind=neg",
     2, 0},
    {"CrossesAReshapeOfNeighbours",
     "%u = reshape(%t, %rows)\n %y = transpose(%u) "
     "permutation=[0,2,1]",
     1, 0},
    {"CrossesAReshapeThatSplits",
     "%u = reshape(%t, %split)\n %y = transpose(%u) "
     "permutation=[0,3,4,1,2]",
     1, 0},
    {"IsTakenBackBesideOtherReaders",
     "%u = act(%t) kind=relu\n %v = transpose(%t)" + kToPlanes +
         "%p = reduce(%u) kind=sum axes=[0,1,2,3] keep_dims=true\n"
         "%q = unary(%v) kind=neg\n %y = binary(%q, %p) kind=add",
     1, 1},
    // Nothing is saved.
    {"StaysWithoutAnother", "%y = act(%t) kind=relu", 0, 1},
    {"StaysAboveAnotherSum", "%v = binary(%t, %r) kind=add\n %y = transpose(%v)" + kToPlanes, 0, 2},
    {"StaysAboveASumWithAnotherOrder",
     "%u = transpose(%q) permutation=[0,1,3,2]\n"
     "%y = binary(%u, %t) kind=add",
     0, 2},
    {"StaysAboveASoftmax", "%v = softmax(%t) axis=-1\n %y = transpose(%v)" + kToPlanes, 0, 2},
    {"StaysAboveAReshapeThatMixes",
     "%u = reshape(%t, %merged)\n %y = transpose(%u) "
     "permutation=[1,0]",
     0, 2},
    {"StaysWhereTwoReadIt",
     "%u = transpose(%t) permutation=[1,0,2,3]\n"
     "%v = transpose(%t) permutation=[2,1,0,3]\n %a = reduce(%u) kind=sum "
     "axes=[0,1,2,3]\n %y = binary(%v, %a) kind=add",
     0, 3},
    {"MeetsItsEqualBelowAnActivation",
     "%u = transpose(%z) permutation=[0,2,3,1]\n"
     "%v = act(%u) kind=relu\n %y = binary(%v, %t) kind=add",
     1, 1},
};

INSTANTIATE_TEST_SUITE_P(Graphs, SinkTransposes, testing::ValuesIn(kSinkCases),
                         [](const auto& c) { return std::string(c.param.what); });

// Blocks as ConvNeXt has them: products over the last dimension between pictures.
std::string residual_block(const std::string& in, const std::string& out) {
  return "%rows" + out + " = transpose(%" + in + ")" + kToRows + "%m" + out + " = matmul(%rows" +
         out + ", %w)\n%b" + out + " = binary(%m" + out + ", %k) kind=add\n%p" + out +
         " = transpose(%b" + out + ")" + kToPlanes + "%" + out + " = binary(%" + in + ", %p" + out +
         ") kind=add\n";
}

TEST(SinkTransposesResiduals, StayInTheOrderOfTheProducts) {
  Graph g = parse(
      "input %x : float32[2x3x4x5]\n %w = constant float32[3x3] random(1)\n"
      "%k = constant float32[3] random(2)\n" +
      residual_block("x", "one") + residual_block("one", "two") + residual_block("two", "three") +
      "%y = unary(%three) kind=neg\n output %y");
  EXPECT_EQ(count<Transpose>(g), 6);
  EXPECT_GT(run(sink_transposes, g), 0);
  EXPECT_EQ(count<Transpose>(g), 2) << to_text(g);
  for (const std::string sum : {"one", "two", "three"})
    EXPECT_EQ(g.node(g.value(node_named(g, sum).inputs[1]).producer).name, "b" + sum);
}

TEST(SinkTransposesResiduals, MoveOnlyBelowProducts) {
  Graph g = parse(
      "input %x : float32[2x3x4x5]\n input %r : float32[2x4x5x3]\n"
      "%s = softmax(%x) axis=1\n %t = transpose(%s)" +
      kToRows + "%y = binary(%t, %r) kind=add\n output %y");
  EXPECT_EQ(run(sink_transposes, g), 0);
}

TEST(SinkTransposesOutputs, KeepTheirNames) {
  Graph g = parse(
      "input %x : float32[2x3]\n %t = transpose(%x) permutation=[1,0]\n"
      "%y = transpose(%t) permutation=[1,0]\n output %y");
  EXPECT_EQ(run(sink_transposes, g), 1);
  EXPECT_EQ(g.value(g.outputs()[0]).name, "y");
}

TEST(ReshapeFirst, MovesTheWholeOfWhatIsSplitOrMerged) {
  // [batch, length, heads * size] as [batch, heads * size, length], then heads and size apart.
  const auto split = reshape_first({2, 7, 6}, {0, 2, 1}, {2, 3, 2, 7});
  ASSERT_TRUE(split);
  EXPECT_EQ(split->dims, (Dims{2, 7, 3, 2}));
  EXPECT_EQ(split->permutation, (Permutation{0, 2, 3, 1}));
  EXPECT_FALSE(reshape_first({2, 3, 5}, {1, 0, 2}, {6, 5})) << "no neighbours in what is read";
  EXPECT_FALSE(reshape_first({4, 3}, {1, 0}, {2, 6})) << "sizes that do not meet";
}

TEST(SinkTransposesValues, KeepTheirNames) {
  Graph g = channels_last("%u = transpose(%z)" + kToRows +
                          "%s = binary(%u, %t) kind=sub\n %y = reshape(%s, %merged)");
  EXPECT_EQ(run(sink_transposes, g), 1);
  for (const NodeId id : g.topological_order()) {
    const Node& node = g.node(id);
    const std::string name = g.value(node.outputs[0]).name;
    if (std::holds_alternative<Transpose>(node.op)) {
      EXPECT_EQ(name, "s") << to_text(g);
    } else {
      EXPECT_NE(name, "s") << to_text(g);
    }
  }
}

}  // namespace
}  // namespace enginery
