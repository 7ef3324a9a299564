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

// [n, 1, 1, 2]: (v, 10 v) for each v of p.
ModelBuilder planes(int64_t size) {
  ModelBuilder m = positives(size);
  m.ints("behind", {1, 2, 3}).node("Unsqueeze", {"p", "behind"}, {"points"});
  m.weights("r", {1, 1, 1, 2}, {1, 10}).node("Mul", {"points", "r"}, {"planes"});
  return m;
}

TEST(RunTimeShapes, TransposedConvolutionsKeepTheBatchApart) {
  ModelBuilder m = planes(3);
  m.weights("w", {1, 1, 1, 2}, {1, 2});
  m.node("ConvTranspose", {"planes", "w"}, {"y"}, {{"strides", std::vector<int64_t>{1, 2}}});
  expect_floats(output_of(m, {-3, 4, 5}), {2, 1, 1, 4}, {4, 8, 40, 80, 5, 10, 50, 100});
}

TEST(RunTimeShapes, PadAndResizeWorkAlongTheOtherAxes) {
  ModelBuilder padded = planes(3);
  padded.ints("pads", {0, 0, 0, 1, 0, 0, 0, 0}).node("Pad", {"planes", "pads"}, {"y"});
  expect_floats(output_of(padded, {-3, 4, 5}), {2, 1, 1, 3}, {0, 4, 40, 0, 5, 50});
  ModelBuilder chosen = planes(3);
  chosen.ints("pads", {1, 0}).ints("axis", {-1});
  chosen.node("Pad", {"planes", "pads", "", "axis"}, {"y"});
  expect_floats(output_of(chosen, {-3, 4, 5}), {2, 1, 1, 3}, {0, 4, 40, 0, 5, 50});
  ModelBuilder scaled = planes(3);
  scaled.weights("s", {4}, {1, 1, 1, 2}).node("Resize", {"planes", "", "s"}, {"y"});
  expect_floats(output_of(scaled, {-3, 4, 5}), {2, 1, 1, 4}, {4, 4, 40, 40, 5, 5, 50, 50});
}

// As torch writes it: the first sizes are cut out of the shape.
TEST(RunTimeShapes, ResizesToSizesAmongWhichItsOwnIs) {
  ModelBuilder m = planes(3);
  m.node("Shape", {"planes"}, {"shape"}).ints("front", {0}).ints("two", {2}).ints("to", {2, 2});
  m.node("Slice", {"shape", "front", "two", "front"}, {"kept"});
  m.node("Concat", {"kept", "to"}, {"sizes"}, {{"axis", 0}});
  m.node("Resize", {"planes", "", "", "sizes"}, {"y"});
  expect_floats(output_of(m, {-3, 4, 5}), {2, 1, 2, 2}, {4, 40, 4, 40, 5, 50, 5, 50});
}

TEST(RunTimeShapes, FlattenJoinsTheAxesBeforeIt) {
  ModelBuilder m = planes(3);
  m.weights("two", {1, 2, 1, 1}, {1, -1}).node("Mul", {"planes", "two"}, {"pairs"});
  m.node("Flatten", {"pairs"}, {"y"}, {{"axis", 2}});
  expect_floats(output_of(m, {-3, 4, 5}), {4, 2}, {4, 40, -4, -40, 5, 50, -5, -50});
}

TEST(RunTimeShapes, ACountTimesANumberIsASize) {
  ModelBuilder m = with_shape(3);
  m.ints("three", {3}).node("Mul", {"n1", "three"}, {"a"}).node("Mul", {"three", "n1"}, {"b"});
  m.node("ConstantOfShape", {"a"}, {"zeros"}).node("Cos", {"zeros"}, {"ones"});
  m.node("ConstantOfShape", {"b"}, {"others"}).node("Add", {"ones", "others"}, {"y"});
  expect_floats(output_of(m, {-3, 9, 7}), {6}, {1, 1, 1, 1, 1, 1});
  expect_floats(output_of(m, {-3, -9, -7}), {0}, {});
}

// What no build can take is refused while the model is read, so that `doctor` names it.
TEST(RunTimeShapes, RefusesSizesThatNoRuleKnows) {
  ModelBuilder square = with_shape(3);
  square.node("Mul", {"n1", "n1"}, {"nn"}).node("ConstantOfShape", {"nn"}, {"y"});
  EXPECT_TRUE(contains(why_refused(square),
                       "(ConstantOfShape): fill: a size of its result is what its "
                       "input 0 'nn' says, which each run computes"))
      << why_refused(square);
  ModelBuilder more = with_shape(3);
  more.ints("one", {1}).node("Add", {"n1", "one"}, {"more"}).weights("v", {1}, {5});
  more.node("Expand", {"v", "more"}, {"y"});
  EXPECT_TRUE(contains(why_refused(more), "(Expand): expand: a size of its result"))
      << why_refused(more);
  ModelBuilder resized = with_shape(3);
  resized.weights("picture", {1, 1, 2, 2}, {1, 2, 3, 4}).ints("ones", {1, 1}).ints("rows", {4});
  resized.node("Concat", {"ones", "n1", "rows"}, {"sizes"}, {{"axis", 0}});
  resized.node("Resize", {"picture", "", "", "sizes"}, {"y"});
  EXPECT_TRUE(contains(why_refused(resized), "resize: the size to which it resizes"))
      << why_refused(resized);
  ModelBuilder padded = planes(3);
  padded.ints("pads", {1, 0, 0, 0, 0, 0, 0, 0}).node("Pad", {"planes", "pads"}, {"y"});
  EXPECT_TRUE(contains(why_refused(padded), "pad: the size of dimension 0 of its input 0"))
      << why_refused(padded);
  ModelBuilder scaled = planes(3);
  scaled.weights("s", {4}, {2, 1, 1, 1}).node("Resize", {"planes", "", "s"}, {"y"});
  EXPECT_TRUE(contains(why_refused(scaled), "resize: the size of dimension 0 of its input 0"))
      << why_refused(scaled);
}

// As in torchvision's exports of masks and key points.
TEST(RunTimeShapes, ALoopOverWhatARunFindsIsRefusedByThatName) {
  ModelBuilder body(13);
  body.input("i", {}, kInt64).input("go", {}, kBool).input("sum", {3});
  body.output("on").output("next");
  body.node("Identity", {"go"}, {"on"}).node("Add", {"sum", "sum"}, {"next"});
  ModelBuilder m = with_shape(3);
  m.node("Loop", {"n", "", "x"}, {"y"}, {{"body", body.graph()}});
  EXPECT_TRUE(contains(why_refused(m), "it iterates as often as a run finds something"))
      << why_refused(m);
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
