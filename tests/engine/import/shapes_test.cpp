// Symbolic sizes, given sizes and shape arithmetic.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include "tests/engine/import/model_builder.h"
#include "tests/support/reference_executor.h"

namespace enginery::test {
namespace {

Dims dims_of(const ImportedModel& model, size_t output = 0) {
  return model.graph.value(model.graph.outputs()[output]).type.dims;
}

ModelBuilder two_inputs() {
  ModelBuilder m;
  m.input("a", {"N", 3}).input("b", {"N", Size::open()}).output("y").output("z");
  m.node("Relu", {"a"}, {"y"}).node("Relu", {"b"}, {"z"});
  return m;
}

TEST(ImportShapes, SymbolsStaySymbolicAndShared) {
  auto imported = two_inputs().import();
  ASSERT_TRUE(imported.ok()) << imported.error().message;
  EXPECT_EQ(imported->graph.symbols, std::vector<std::string>{"N"});
  EXPECT_EQ(dims_of(*imported, 0), (Dims{-2, 3}));
  EXPECT_EQ(dims_of(*imported, 1), (Dims{-2, kDynamic}));
}

TEST(ImportShapes, ASizeGivenToASymbolHoldsEverywhere) {
  auto imported = two_inputs().import({.shapes = {{"a", {8, 3}}}});
  ASSERT_TRUE(imported.ok()) << imported.error().message;
  EXPECT_EQ(dims_of(*imported, 0), (Dims{8, 3}));
  EXPECT_EQ(dims_of(*imported, 1), (Dims{8, kDynamic}));
  EXPECT_TRUE(imported->notes.empty());
}

TEST(ImportShapes, OpenSizesBecomeOneWithANoteWhenAsked) {
  auto imported = two_inputs().import({.default_symbols_to_one = true});
  ASSERT_TRUE(imported.ok()) << imported.error().message;
  EXPECT_EQ(dims_of(*imported, 1), (Dims{1, 1}));
  EXPECT_EQ(imported->notes, (std::vector<std::string>{"a: N = 1", "b: N = 1", "b: ? = 1"}));
}

TEST(ImportShapes, ASymbolWithTwoSizesIsRefused) {
  auto imported = two_inputs().import({.shapes = {{"a", {8, 3}}, {"b", {4, 2}}}});
  ASSERT_FALSE(imported.ok());
  EXPECT_TRUE(contains(imported.error().message, "dimension 'N' is 4 here and 8 elsewhere"))
      << imported.error().message;
}

TEST(ImportShapes, ShapesForNoInputOrOfAnotherRankAreRefused) {
  auto unknown = two_inputs().import({.shapes = {{"c", {1}}}});
  ASSERT_FALSE(unknown.ok());
  EXPECT_TRUE(contains(unknown.error().message, "no input 'c' (it has: a, b)"))
      << unknown.error().message;
  auto rank = two_inputs().import({.shapes = {{"a", {1, 3, 1}}}});
  ASSERT_FALSE(rank.ok());
  EXPECT_TRUE(contains(rank.error().message, "2 dimensions")) << rank.error().message;
}

TEST(ImportShapes, AFixedSizeCanBeOverridden) {
  auto imported = small_convolution().import({.shapes = {{"x", {2, 2, 8, 6}}}});
  ASSERT_TRUE(imported.ok()) << imported.error().message;
  EXPECT_EQ(dims_of(*imported), (Dims{2, 3, 8, 6}));
}

TEST(ImportShapes, AContradictionNamesTheNode) {
  auto imported = small_convolution().import({.shapes = {{"x", {1, 5, 4, 4}}}});
  ASSERT_FALSE(imported.ok());
  EXPECT_EQ(imported.error().code, ErrorCode::invalid_argument);
  EXPECT_TRUE(contains(imported.error().message, "node 'Conv_1' (Conv)"))
      << imported.error().message;
}

TEST(ImportShapes, AnInputWithoutAShapeAsksForOne) {
  ModelBuilder m;
  m.input("x", {}).output("y").node("Relu", {"x"}, {"y"});
  m.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->clear_shape();
  auto imported = m.import();
  ASSERT_FALSE(imported.ok());
  EXPECT_TRUE(contains(imported.error().message, "--shapes")) << imported.error().message;
  EXPECT_TRUE(m.import({.shapes = {{"x", {2, 3}}}}).ok());
}

// x.reshape(x.shape[0], -1) as PyTorch writes it.
ModelBuilder flattened_by_shape_arithmetic() {
  ModelBuilder m(9);
  m.input("x", {"N", 3, 4}).output("y").ints("zero", {0}).ints("rest", {-1});
  m.graph().mutable_initializer(0)->clear_dims();
  m.node("Shape", {"x"}, {"s"}).node("Gather", {"s", "zero"}, {"n"}, {{"axis", 0}});
  m.node("Unsqueeze", {"n"}, {"n1"}, {{"axes", std::vector<int64_t>{0}}});
  m.node("Concat", {"n1", "rest"}, {"shape"}, {{"axis", 0}}).node("Reshape", {"x", "shape"}, {"y"});
  return m;
}

TEST(ImportShapes, ShapeArithmeticIsComputedWhileReading) {
  auto imported = flattened_by_shape_arithmetic().import({.shapes = {{"x", {5, 3, 4}}}});
  ASSERT_TRUE(imported.ok()) << imported.error().message;
  EXPECT_EQ(dims_of(*imported), (Dims{5, 12}));
  EXPECT_EQ(imported->graph.live_node_count(), 1);
}

// As PyTorch writes an assignment to slices: grids of indices by the million use up what may be
// folded to the last element, and the places of a later one (Longformer's second layer) are sizes
// all the same.
TEST(ImportShapes, ShapesAreKnownBehindLargeGrids) {
  ModelBuilder m;
  m.input("x", {2, 12}).output("y").output("last");
  m.ints("many", {(1 << 20) - 65}).ints("one", {1}).ints("axis", {1});
  for (int i = 0; i < 40; ++i) m.node("ConstantOfShape", {"many"}, {"grid" + std::to_string(i)});
  m.node("Identity", {"grid39"}, {"last"});
  m.node("Shape", {"x"}, {"shape"}).node("Gather", {"shape", "one"}, {"length"});
  m.node("ConstantOfShape", {"length"}, {"zeros"}).node("Cos", {"zeros"}, {"ones"});
  m.node("NonZero", {"ones"}, {"row"}).node("Transpose", {"row"}, {"column"});
  m.node("Squeeze", {"column", "axis"}, {"places"});
  m.node("Gather", {"x", "places"}, {"y"}, {{"axis", 1}});
  auto imported = m.import();
  ASSERT_TRUE(imported.ok()) << imported.error().message;
  EXPECT_EQ(dims_of(*imported), (Dims{2, 12}));
  EXPECT_EQ(imported->graph.constant(imported->graph.outputs()[1]), nullptr) << "no limit was met";
}

TEST(ImportShapes, InitialisersListedAsInputsAreConstants) {
  ModelBuilder m = small_convolution();
  m.input("w", {3, 2, 3, 3});
  auto imported = m.import();
  ASSERT_TRUE(imported.ok()) << imported.error().message;
  ASSERT_EQ(imported->graph.inputs().size(), 1u);
  EXPECT_EQ(imported->graph.value(imported->graph.inputs()[0]).name, "x");
}

TEST(ImportShapes, KnownInputValuesBecomeConstants) {
  ModelBuilder m;
  m.input("x", {2, 6})
      .input("shape", {2}, kInt64)
      .output("y")
      .node("Reshape", {"x", "shape"}, {"y"});
  auto imported = m.import({.values = {{"shape", Tensor::of<int64_t>({2}, {3, 4})}}});
  ASSERT_TRUE(imported.ok()) << imported.error().message;
  EXPECT_EQ(dims_of(*imported), (Dims{3, 4}));
  EXPECT_EQ(imported->graph.inputs().size(), 1u);
  EXPECT_FALSE(m.import({.values = {{"shape", Tensor::of<int64_t>({3}, {3, 2, 2})}}}).ok())
      << "the declared length is two";
}

TEST(ImportShapes, NodesInAnyOrder) {
  ModelBuilder m;
  m.input("x", {1, 3})
      .output("y")
      .node("Relu", {"b"}, {"y"})
      .node("Neg", {"a"}, {"b"})
      .node("Abs", {"x"}, {"a"});
  auto imported = m.import();
  ASSERT_TRUE(imported.ok()) << imported.error().message;
  auto out = run_graph(imported->graph, {{"x", Tensor::of<float>({1, 3}, {1, -2, 3})}});
  ASSERT_TRUE(out.ok());
  EXPECT_EQ(out->at("y").data<float>()[1], 0);
}

TEST(ImportShapes, AnInputCanBeAnOutput) {
  ModelBuilder m;
  m.input("x", {1, 3}).output("x").output("y").node("Relu", {"x"}, {"y"});
  auto imported = m.import();
  ASSERT_TRUE(imported.ok()) << imported.error().message;
  EXPECT_EQ(imported->graph.value(imported->graph.outputs()[0]).name, "x");
}

}  // namespace
}  // namespace enginery::test
