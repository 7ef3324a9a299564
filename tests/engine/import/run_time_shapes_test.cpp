// Shapes that hold a size which a run tells, as exporters put them together, and operators that
// write or sample at as many places as a run tells.
#include <onnx/onnx_pb.h>

#include "tests/engine/import/run_time_models.h"

namespace enginery::test {
namespace {

// [n, 2]: the shape of what stands beside p, as torch writes it: a size is picked out of a shape.
ModelBuilder with_shape(int64_t size) {
  ModelBuilder m = positives(size);
  m.ints("front", {0}).node("Shape", {"p"}, {"shape"}).ints("two", {2});
  m.node("Gather", {"shape", "first"}, {"n"}).node("Unsqueeze", {"n", "front"}, {"n1"});
  onnx::TensorProto* first = m.graph().add_initializer();
  first->set_name("first");
  first->set_data_type(onnx::TensorProto::INT64);
  first->add_int64_data(0);
  m.node("Concat", {"n1", "two"}, {"n_2"}, {{"axis", 0}});
  return m;
}

TEST(RunTimeShapes, FillAndExpandToAShapeThatWasPutTogether) {
  ModelBuilder filled = with_shape(3);
  filled.node("ConstantOfShape", {"n_2"}, {"zeros"}).ints("back", {1});
  filled.node("Unsqueeze", {"p", "back"}, {"column"}).node("Add", {"zeros", "column"}, {"y"});
  expect_floats(output_of(filled, {-3, 9, 7}), {2, 2}, {9, 9, 7, 7});
  // torch's expand: -1 keeps a size.
  ModelBuilder expanded = with_shape(3);
  expanded.ints("ones", {1, 1}).ints("keeps", {-1, -1}).ints("back", {1});
  expanded.node("Equal", {"n_2", "keeps"}, {"kept"});
  expanded.node("Where", {"kept", "ones", "n_2"}, {"wanted"});
  expanded.node("Unsqueeze", {"p", "back"}, {"column"});
  expanded.node("Expand", {"column", "wanted"}, {"y"});
  expect_floats(output_of(expanded, {-3, 9, 7}), {2, 2}, {9, 9, 7, 7});
  ModelBuilder row = with_shape(3);
  row.weights("r", {2}, {5, 6}).node("Expand", {"r", "n_2"}, {"y"});
  expect_floats(output_of(row, {-3, -9, 7}), {1, 2}, {5, 6});
}

TEST(RunTimeShapes, TileRepeatsWhatIsNotOpen) {
  ModelBuilder m = positives(3);
  m.ints("back", {1}).node("Unsqueeze", {"p", "back"}, {"column"}).ints("once_twice", {1, 2});
  m.node("Tile", {"column", "once_twice"}, {"y"});
  expect_floats(output_of(m, {-3, 9, 7}), {2, 2}, {9, 9, 7, 7});
  ModelBuilder rows = with_shape(3);
  rows.weights("r", {1, 1}, {5}).node("Tile", {"r", "n_2"}, {"y"});
  expect_floats(output_of(rows, {3, 9, -7}), {2, 2}, {5, 5, 5, 5});
}

TEST(RunTimeShapes, RangeCountsUpToASize) {
  ModelBuilder m = with_shape(4);
  for (const auto& [name, value] : {std::pair("none", 0), std::pair("step", 1)}) {
    onnx::TensorProto* scalar = m.graph().add_initializer();
    scalar->set_name(name);
    scalar->set_data_type(onnx::TensorProto::INT64);
    scalar->add_int64_data(value);
  }
  m.node("Range", {"none", "n", "step"}, {"r"}).node("Cast", {"r"}, {"f"}, {{"to", kFloat}});
  m.node("Sub", {"f", "p"}, {"y"});
  expect_floats(output_of(m, {9, 8, -1, 7}), {3}, {-9, -7, -5});
}

TEST(RunTimeShapes, ReshapeToASizeAndOfAxesJoined) {
  ModelBuilder m = with_shape(3);
  m.ints("back", {1}).node("Unsqueeze", {"p", "back"}, {"column"}).weights("r", {2}, {1, 2});
  m.node("Mul", {"column", "r"}, {"table"});  // [n, 2]
  ModelBuilder same = with_shape(3);
  same.ints("back", {1})
      .node("Unsqueeze", {"p", "back"}, {"column"})
      .weights("r", {4}, {1, 2, 3, 4});
  same.node("Mul", {"column", "r"}, {"table"}).ints("left", {-1});
  same.node("Concat", {"n1", "left", "two"}, {"n_left_2"}, {{"axis", 0}});
  same.node("Reshape", {"table", "n_left_2"}, {"y"});
  expect_floats(output_of(same, {-3, 9, 7}), {2, 2, 2}, {9, 18, 27, 36, 7, 14, 21, 28});
  m.ints("flat", {-1}).node("Reshape", {"table", "flat"}, {"a"}).node("Neg", {"table"}, {"minus"});
  // Two that were joined alike have one count.
  m.node("Reshape", {"minus", "flat"}, {"b"}).weights("half", {}, {0.5f});
  m.node("Mul", {"b", "half"}, {"c"}).node("Add", {"a", "c"}, {"y"});
  expect_floats(output_of(m, {-3, 8, 6}), {4}, {4, 8, 3, 6});
}

TEST(RunTimeShapes, MeansAreOfWhatCounts) {
  ModelBuilder m = positives(4);
  m.node("ReduceMean", {"p"}, {"y"}, {{"keepdims", 0}});
  expect_floats(output_of(m, {-3, 2, 7, -1}), {}, {4.5f});
  ModelBuilder table = positives(4);
  table.ints("back", {1}).node("Unsqueeze", {"p", "back"}, {"column"}).weights("r", {2}, {1, 3});
  table.node("Mul", {"column", "r"}, {"t"});
  table.node("ReduceMean", {"t"}, {"y"}, {{"axes", std::vector<int64_t>{0, 1}}});
  expect_floats(output_of(table, {-3, 2, 8, -1}), {1, 1}, {10});
}

TEST(RunTimeShapes, ScattersWriteWhatCountsAlone) {
  ModelBuilder m = positives(4);
  m.weights("base", {4}, {10, 20, 30, 40});
  m.node("ScatterElements", {"base", "at", "p"}, {"y"}, {{"axis", 0}});
  expect_floats(output_of(m, {-1, 5, -1, 7}), {4}, {10, 5, 30, 7});
  expect_floats(output_of(m, {-1, -5, -1, -7}), {4}, {10, 20, 30, 40});
  // Row 0 is where zeros behind the positions point to.
  ModelBuilder rows = positives(3);
  rows.ints("back", {1}).weights("base", {3, 2}, {1, 2, 3, 4, 5, 6}).weights("r", {2}, {1, 10});
  rows.node("Unsqueeze", {"at", "back"}, {"places"}).node("Unsqueeze", {"p", "back"}, {"column"});
  rows.node("Mul", {"column", "r"}, {"updates"});
  rows.node("ScatterND", {"base", "places", "updates"}, {"y"});
  expect_floats(output_of(rows, {-1, 8, -1}), {3, 2}, {1, 2, 8, 80, 5, 6});
}

// Into what is open itself: a position below zero counts from its actual end.
TEST(RunTimeShapes, ScattersIntoWhatCounts) {
  ModelBuilder m = positives(4);
  m.node("ArgMax", {"p"}, {"top"}, {{"axis", 0}}).weights("u", {1}, {-1});
  m.node("ScatterElements", {"p", "top", "u"}, {"y"}, {{"axis", 0}});
  expect_floats(output_of(m, {3, -5, 9, 4}), {3}, {3, -1, 4});
  ModelBuilder last = positives(4);
  last.node("ArgMax", {"p"}, {"top"}, {{"axis", 0}}).weights("u", {1}, {50}).ints("minus", {-1});
  last.node("Mul", {"top", "none"}, {"zero_at"}).ints("none", {0});
  last.node("Add", {"zero_at", "minus"}, {"end"});
  last.node("ScatterElements", {"p", "end", "u"}, {"y"}, {{"axis", 0}});
  expect_floats(output_of(last, {3, -5, 9, 4}), {3}, {3, 9, 50});
}

TEST(RunTimeShapes, RegionsThatWereChosenAreSampled) {
  ModelBuilder m = positives(3);
  m.weights("picture", {1, 1, 2, 2}, {1, 2, 3, 4}).ints("images", {0, 0, 0});
  m.weights("boxes", {3, 4}, {0, 0, 2, 2, 0, 0, 1, 1, 1, 1, 2, 2});
  m.node("Gather", {"boxes", "at"}, {"rois"}).node("Gather", {"images", "at"}, {"of"});
  m.node("RoiAlign", {"picture", "rois", "of"}, {"y"},
         {{"output_height", 1}, {"output_width", 1}, {"sampling_ratio", 1}});
  // A bin's middle: (1, 1) lies between pixels 1 and 2, beyond which the last one stays.
  ModelBuilder all(13);
  all.input("x", {3}).output("y").weights("picture", {1, 1, 2, 2}, {1, 2, 3, 4});
  all.ints("images", {0, 0, 0}).weights("boxes", {3, 4}, {0, 0, 2, 2, 0, 0, 1, 1, 1, 1, 2, 2});
  all.node("RoiAlign", {"picture", "boxes", "images"}, {"r"},
           {{"output_height", 1}, {"output_width", 1}, {"sampling_ratio", 1}});
  all.ints("axes", {1, 2, 3}).node("Squeeze", {"r", "axes"}, {"values"});
  all.node("Mul", {"x", "nothing"}, {"zeros"}).weights("nothing", {}, {0});
  all.node("Add", {"values", "zeros"}, {"y"});
  const Tensor whole = output_of(all, {1, 1, 1});
  const auto values = whole.data<float>();
  expect_floats(output_of(m, {1, -1, 1}), {2, 1, 1, 1}, {values[0], values[2]});
}

TEST(RunTimeShapes, RefusesWhatNoSizeIs) {
  ModelBuilder other = with_shape(3);
  other.ints("back", {1}).node("Unsqueeze", {"p", "back"}, {"column"}).ints("three", {3});
  other.node("Mul", {"n1", "three"}, {"thrice"});
  other.node("Concat", {"thrice", "two"}, {"wanted"}, {{"axis", 0}});
  other.node("Expand", {"column", "wanted"}, {"y"});
  EXPECT_TRUE(contains(why_refused(other), "(Expand): expand: the size of dimension 0"))
      << why_refused(other);
  ModelBuilder doubled = positives(3);
  doubled.ints("two", {2}).node("Expand", {"p", "two"}, {"y"});
  EXPECT_TRUE(contains(why_refused(doubled), "expand: the size of dimension 0 of its input 0"))
      << why_refused(doubled);
  ModelBuilder updates = positives(3);
  updates.weights("base", {3}, {1, 2, 3}).ints("places", {0, 1, 2});
  updates.node("ScatterElements", {"base", "places", "p"}, {"y"});
  EXPECT_TRUE(
      contains(why_refused(updates), "scatter_elements: the size of dimension 0 of its input"))
      << why_refused(updates);
}

}  // namespace
}  // namespace enginery::test
