// Models of which a size is known after a run alone: what they give, and what of them is refused.
#include <onnx/onnx_pb.h>

#include "tests/engine/import/run_time_models.h"

namespace enginery::test {
namespace {

TEST(RunTimeSizes, NonZeroGivesAsManyPositionsAsThereAre) {
  ModelBuilder m(13);
  m.input("x", {2, 3}).output("y").node("NonZero", {"x"}, {"y"});
  expect_floats(output_of(m, {0, 5, 0, 7, 0, 9}), {2, 3}, {0, 1, 1, 1, 0, 2});
  expect_floats(output_of(m, {0, 0, 0, 0, 0, 0}), {2, 0}, {});
}

TEST(RunTimeSizes, StandBehindTheModelsOutputsAndAreCountedOnce) {
  ModelBuilder m = positives(4);
  m.output("z").node("Neg", {"p"}, {"y"}).node("Exp", {"y"}, {"z"});
  const auto imported = m.import();
  ASSERT_TRUE(imported.ok()) << imported.error().message;
  const Graph& graph = imported->graph;
  EXPECT_EQ(graph.outputs().size(), 3u);
  EXPECT_EQ(graph.own_output_count(), 2u);
  EXPECT_EQ(graph.run_time_sizes, (RunTimeSizes{{0, 0, 2}, {1, 0, 2}}));
}

TEST(RunTimeSizes, ElementsComputeOn) {
  ModelBuilder m = positives(4);
  m.node("Sqrt", {"p"}, {"r"}).node("Add", {"r", "p"}, {"y"});
  expect_floats(output_of(m, {4, -1, 9, 0}), {2}, {6, 12});
}

// Zeros behind what counts are no divisors, and no positions that a table lacks.
TEST(RunTimeSizes, WhatDoesNotCountBreaksNothing) {
  ModelBuilder m = positives(3);
  m.ints("twelve", {12})
      .ints("three", {3})
      .node("Div", {"twelve", "at"}, {"q"})
      .node("Cast", {"q"}, {"y"}, {{"to", kFloat}});
  expect_floats(output_of(m, {-1, 2, 3}), {2}, {12, 6});
  ModelBuilder table = positives(3);
  table.weights("t", {4}, {0, 10, 20, 30}).ints("three", {3});
  table.node("Sub", {"three", "at"}, {"from_end"}).node("Add", {"from_end", "three"}, {"beyond"});
  table.node("Sub", {"beyond", "three"}, {"again"}).node("Gather", {"t", "again"}, {"y"});
  expect_floats(output_of(table, {-1, 2, 3}), {2}, {20, 10});
}

TEST(RunTimeSizes, PositionsFromTheEndCountFromTheActualEnd) {
  ModelBuilder m = positives(5);
  m.node("Sub", {"at", "five"}, {"from_end"}).ints("five", {5});
  m.node("Gather", {"p", "some"}, {"y"});
  // The positions of x's integers as they are.
  m.node("Cast", {"x"}, {"all"}, {{"to", kInt64}});
  m.node("Mul", {"all", "zeros"}, {"none"}).ints("zeros", {0});
  m.node("Add", {"none", "last"}, {"some"}).ints("last", {-1});
  expect_floats(output_of(m, {3, -1, 4, -1, -5}), {5}, {4, 4, 4, 4, 4});
}

TEST(RunTimeSizes, SlicesAndReductionsSeeTheActualEnd) {
  ModelBuilder m = positives(5);
  m.ints("start", {1}).ints("end", {3}).node("Slice", {"p", "start", "end"}, {"y"});
  expect_floats(output_of(m, {1, 2, 3, 4, 5}), {2}, {2, 3});
  expect_floats(output_of(m, {1, 2, 0, 0, 0}), {1}, {2});
  expect_floats(output_of(m, {1, 0, 0, 0, 0}), {0}, {});
  for (const auto& [op, wanted] : {std::pair<std::string, float>{"ReduceMin", 2},
                                   {"ReduceMax", 7},
                                   {"ReduceSum", 9},
                                   {"ReduceProd", 14}}) {
    ModelBuilder reduced = positives(4);
    reduced.node("Mul", {"p", "one"}, {"q"}).weights("one", {}, {1});
    reduced.node(op, {"q"}, {"y"}, {{"keepdims", 0}});
    expect_floats(output_of(reduced, {-3, 2, 7, -1}), {}, {wanted});
  }
}

TEST(RunTimeSizes, TopKOfWhatCounts) {
  ModelBuilder m = positives(4);
  m.ints("k", {3}).node("TopK", {"p", "k"}, {"y", "i"}, {{"largest", 0}});
  expect_floats(output_of(m, {-3, 9, 7, -1}), {2}, {7, 9});
  expect_floats(output_of(m, {3, 9, 7, 1}), {3}, {1, 3, 7});
}

// As exporters limit k: the least of a number and the size.
TEST(RunTimeSizes, TopKOfAsManyAsThereAre) {
  ModelBuilder m = positives(4);
  m.ints("k", {3}).node("Shape", {"p"}, {"n"}).node("Min", {"n", "k"}, {"least"});
  m.node("TopK", {"p", "least"}, {"y", "i"});
  expect_floats(output_of(m, {-3, 9, 7, -1}), {2}, {9, 7});
  const auto imported = m.import();
  ASSERT_TRUE(imported.ok());
  EXPECT_EQ(imported->graph.value(imported->graph.outputs()[0]).type.dims, (Dims{3}));
}

TEST(RunTimeSizes, PartsOfOpenSizesAreJoined) {
  ModelBuilder m = positives(3);
  m.weights("w", {2}, {50, 60}).node("Neg", {"p"}, {"q"});
  m.node("Concat", {"p", "w", "q"}, {"y"}, {{"axis", 0}});
  expect_floats(output_of(m, {-3, 9, 7}), {6}, {9, 7, 50, 60, -9, -7});
  // Two that were joined alike have one count.
  ModelBuilder both = positives(3);
  both.weights("w", {2}, {50, 60}).node("Neg", {"p"}, {"q"});
  both.node("Concat", {"p", "w"}, {"a"}, {{"axis", 0}});
  both.node("Concat", {"q", "w"}, {"b"}, {{"axis", 0}}).node("Add", {"a", "b"}, {"y"});
  expect_floats(output_of(both, {-3, 9, 7}), {4}, {0, 0, 100, 120});
}

TEST(RunTimeSizes, ShapesTellTheActualSize) {
  ModelBuilder m = positives(3);
  m.node("Shape", {"p"}, {"n"}).node("Cast", {"n"}, {"y"}, {{"to", kFloat}});
  expect_floats(output_of(m, {-3, 9, 7}), {1}, {2});
  ModelBuilder filled = positives(3);
  filled.node("Shape", {"p"}, {"n"}).node("ConstantOfShape", {"n"}, {"zeros"});
  filled.node("Sub", {"zeros", "p"}, {"y"});
  expect_floats(output_of(filled, {-3, 9, 7}), {2}, {-9, -7});
}

TEST(RunTimeSizes, SuppressionTakesAsManyBoxesAsThereAre) {
  ModelBuilder m(13);
  m.input("x", {1, 3, 4}).output("y").weights("s", {1, 1, 3}, {0.5f, 0.75f, 0.25f});
  m.ints("most", {3}).weights("iou", {1}, {0.5f});
  m.node("NonMaxSuppression", {"x", "s", "most", "iou"}, {"y"});
  expect_floats(output_of(m, {0, 0, 4, 4, 0, 1, 4, 5, 10, 10, 11, 11}), {2, 3}, {0, 0, 1, 0, 0, 2});
}

// The boxes of positive scores alone: what stands behind them overlaps the first one.
TEST(RunTimeSizes, SuppressionTakesBoxesThatWereChosen) {
  ModelBuilder m = positives(4);
  m.weights("boxes", {4, 4}, {9, 9, 10, 10, 0, 0, 4, 4, 0, 1, 4, 5, 20, 20, 24, 24});
  m.node("Gather", {"boxes", "at"}, {"chosen"}).ints("front", {0}).ints("two", {0, 1});
  m.node("Unsqueeze", {"chosen", "front"}, {"b"}).node("Unsqueeze", {"p", "two"}, {"s"});
  m.ints("most", {9}).weights("iou", {1}, {0.5f});
  m.node("NonMaxSuppression", {"b", "s", "most", "iou"}, {"y"});
  expect_floats(output_of(m, {-1, 0.5f, 0.75f, 0.25f}), {2, 3}, {0, 0, 1, 0, 0, 2});
  expect_floats(output_of(m, {-1, -1, 0.75f, -1}), {1, 3}, {0, 0, 0});
}

// The graph of a branch that gives what one node makes of values around it.
ModelBuilder branch_of(const std::string& op, const std::vector<std::string>& inputs) {
  ModelBuilder b;
  b.output("result").node(op, inputs, {"result"});
  return b;
}

TEST(RunTimeSizes, OneOfTwoBranchesCounts) {
  ModelBuilder m = positives(3);
  m.node("ReduceSum", {"x"}, {"sum"}, {{"keepdims", 0}}).node("Greater", {"sum", "zero"}, {"c"});
  ModelBuilder same = positives(3);
  same.node("ReduceSum", {"x"}, {"sum"}, {{"keepdims", 0}});
  same.node("Greater", {"sum", "zero"}, {"c"});
  same.node("If", {"c"}, {"y"},
            {{"then_branch", branch_of("Neg", {"x"}).graph()},
             {"else_branch", branch_of("Abs", {"x"}).graph()}});
  expect_floats(output_of(same, {-1, 2, 3}), {3}, {1, -2, -3});
  expect_floats(output_of(same, {-9, 2, 3}), {3}, {9, 2, 3});
  // What counts, or as much as another value has.
  m.weights("one", {1}, {50});
  m.node("If", {"c"}, {"y"},
         {{"then_branch", branch_of("Neg", {"p"}).graph()},
          {"else_branch", branch_of("Identity", {"one"}).graph()}});
  expect_floats(output_of(m, {-1, 2, 3}), {2}, {-2, -3});
  expect_floats(output_of(m, {-9, 2, 3}), {1}, {50});
}

TEST(RunTimeSizes, CompressOfARunsCondition) {
  ModelBuilder m(13);
  m.input("x", {2, 3}).output("y").weights("zero", {}, {0}).ints("row", {1}).ints("axes", {0});
  m.node("Greater", {"x", "zero"}, {"flags"}).node("Gather", {"flags", "row"}, {"one"});
  m.ints("flat", {-1}).node("Reshape", {"one", "flat"}, {"condition"});
  m.node("Compress", {"x", "condition"}, {"y"}, {{"axis", 1}});
  expect_floats(output_of(m, {1, 2, 3, 0, 5, 6}), {2, 2}, {2, 3, 5, 6});
}

TEST(RunTimeSizes, RefusesWhatHasNoRuleByName) {
  ModelBuilder marked = positives(3);
  marked.node("Hardmax", {"p"}, {"y"});
  EXPECT_TRUE(contains(why_refused(marked),
                       "(Hardmax): the size of dimension 0 of its input 0 is "
                       "known after a run alone"))
      << why_refused(marked);
  ModelBuilder resized = positives(3);
  resized.ints("two", {2}).node("Tile", {"p", "two"}, {"y"});
  EXPECT_TRUE(contains(why_refused(resized), "tile: the size of dimension 0 of its input 0"))
      << why_refused(resized);
  ModelBuilder added = positives(3);
  added.node("Add", {"p", "x"}, {"y"});
  EXPECT_TRUE(contains(why_refused(added), "binary: the size of dimension 0 of its input 1"))
      << why_refused(added);
  ModelBuilder first = positives(3);
  first.ints("zeroth", {0}).node("Gather", {"p", "zeroth"}, {"y"});
  EXPECT_TRUE(contains(why_refused(first), "gather: the size of dimension 0 of its input 0"));
  ModelBuilder fixed = positives(4);
  fixed.ints("two_two", {2, 2}).node("Reshape", {"p", "two_two"}, {"y"});
  EXPECT_TRUE(contains(why_refused(fixed), "reshape: the size of dimension 0"));
}

// x [6] split into as many elements as are positive, as p, and the others, as q.
ModelBuilder split_by_signs() {
  ModelBuilder m(13);
  m.input("x", {6}).output("y").weights("zero", {}, {0}).ints("six", {6});
  m.node("Greater", {"x", "zero"}, {"flags"}).node("Cast", {"flags"}, {"ones"}, {{"to", kInt64}});
  m.node("ReduceSum", {"ones"}, {"first"}).node("Sub", {"six", "first"}, {"second"});
  m.node("Concat", {"first", "second"}, {"sizes"}, {{"axis", 0}});
  m.node("Split", {"x", "sizes"}, {"p", "q"}, {{"axis", 0}});
  return m;
}

TEST(RunTimeSizes, ASplitIntoSizesThatARunTells) {
  ModelBuilder first = split_by_signs();
  first.node("Neg", {"p"}, {"y"});
  expect_floats(output_of(first, {1, 2, -1, 3, -4, -5}), {3}, {-1, -2, 1});
  expect_floats(output_of(first, {-1, -1, -1, -1, -1, -1}), {0}, {});
  ModelBuilder second = split_by_signs();
  second.node("Neg", {"q"}, {"y"});
  expect_floats(output_of(second, {1, 2, -1, 3, -4, -5}), {3}, {-3, 4, 5});
  expect_floats(output_of(second, {1, 2, 3, 4, 5, 6}), {0}, {});
}

// As a mixture of experts ends: the parts joined again have the size of the whole.
TEST(RunTimeSizes, PartsOfASplitJoinedAgainAreWhole) {
  ModelBuilder m = split_by_signs();
  m.node("Neg", {"p"}, {"r"}).node("Concat", {"r", "q"}, {"y"}, {{"axis", 0}});
  const auto imported = m.import();
  ASSERT_TRUE(imported.ok()) << imported.error().message;
  EXPECT_TRUE(imported->graph.run_time_sizes.empty());
  expect_floats(output_of(m, {1, 2, -1, 3, -4, -5}), {6}, {-1, -2, 1, 3, -4, -5});
  expect_floats(output_of(m, {-1, -2, -3, -4, -5, -6}), {6}, {-1, -2, -3, -4, -5, -6});
  expect_floats(output_of(m, {1, 2, 3, 4, 5, 6}), {6}, {-1, -2, -3, -4, -5, -6});
  ModelBuilder turned = split_by_signs();
  turned.node("Concat", {"q", "p"}, {"y"}, {{"axis", 0}});
  expect_floats(output_of(turned, {1, 2, -1, 3, -4, -5}), {6}, {3, -4, -5, 1, 2, -1});
}

TEST(RunTimeSizes, ASplitThatARunTellsNeedsAsManySizesAsParts) {
  ModelBuilder m = split_by_signs();
  m.node("Split", {"x", "first"}, {"y", "z"}, {{"axis", 0}});
  EXPECT_TRUE(contains(why_refused(m), "a run tells the sizes of the parts")) << why_refused(m);
}

TEST(RunTimeSizes, RefusesPadsThatWereFound) {
  ModelBuilder m = positives(4);
  m.node("Pad", {"x", "at"}, {"y"});
  EXPECT_TRUE(contains(why_refused(m), "pad: the size of dimension 0 of its input 1"))
      << why_refused(m);
}

// As of what breaks an operator's own rule, whatever the sizes are.
TEST(RunTimeSizes, RefusesPartsOfAnotherRank) {
  ModelBuilder m = positives(4);
  m.node("Concat", {"p", "zero"}, {"y"}, {{"axis", 0}});
  EXPECT_TRUE(contains(why_refused(m), "(Concat): concat: ")) << why_refused(m);
}

// Before anything is made of so many positions.
TEST(RunTimeSizes, RefusesMasksOfABillion) {
  ModelBuilder masked = positives(int64_t{1} << 30);
  masked.node("Softmax", {"p"}, {"y"}, {{"axis", 0}});
  EXPECT_TRUE(contains(why_refused(masked), "take too much memory")) << why_refused(masked);
  ModelBuilder joined = positives(int64_t{1} << 29);
  joined.node("Concat", {"x", "p"}, {"y"}, {{"axis", 0}});
  EXPECT_TRUE(contains(why_refused(joined), "take too much memory")) << why_refused(joined);
}

}  // namespace
}  // namespace enginery::test
