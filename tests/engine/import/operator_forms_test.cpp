// One operator, many spellings: what operator sets wrote as attributes and later as inputs means
// the same. Expected values are worked out by hand or by the form that ONNX's own backend tests
// cover (the newest).
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <numeric>

#include "tests/engine/import/model_builder.h"
#include "tests/support/reference_executor.h"

namespace enginery::test {
namespace {

using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;

Tensor counting(Dims dims, float first = 1) {
  Tensor t(DataType::float32, std::move(dims));
  auto data = t.mutable_data<float>();
  std::iota(data.begin(), data.end(), first);
  return t;
}

// The output "y" for input "x"; fails the test on any error.
Tensor run(const ModelBuilder& model, const Tensor& x) {
  auto imported = model.import();
  if (!imported.ok()) {
    ADD_FAILURE() << imported.error().message;
    return Tensor();
  }
  auto outputs = run_graph(imported->graph, {{"x", x}});
  if (!outputs.ok()) {
    ADD_FAILURE() << outputs.error().message;
    return Tensor();
  }
  return outputs->at("y");
}

Floats floats_of(const Tensor& t) {
  Tensor wide = convert(t, DataType::float32);
  return {wide.data<float>().begin(), wide.data<float>().end()};
}

void expect_same(const ModelBuilder& a, const ModelBuilder& b, const Tensor& x) {
  Tensor y = run(a, x), z = run(b, x);
  EXPECT_EQ(to_string(y.tensor_type()), to_string(z.tensor_type()));
  EXPECT_EQ(floats_of(y), floats_of(z));
}

ModelBuilder of(int64_t opset, const Dims& x) {
  ModelBuilder m(opset);
  std::vector<Size> sizes(x.begin(), x.end());
  m.input("x", sizes).output("y");
  return m;
}

TEST(OperatorForms, ClipByAttributesOrInputs) {
  Tensor x = counting({6}, -2);
  ModelBuilder old = of(6, {6}), now = of(13, {6}), open = of(13, {6});
  old.node("Clip", {"x"}, {"y"}, {{"min", -1.0f}, {"max", 2.0f}});
  now.weights("a", {}, {-1}).weights("b", {}, {2}).node("Clip", {"x", "a", "b"}, {"y"});
  open.weights("b", {}, {2}).node("Clip", {"x", "", "b"}, {"y"});
  expect_same(old, now, x);
  EXPECT_EQ(floats_of(run(open, x)), (Floats{-2, -1, 0, 1, 2, 2}));
}

TEST(OperatorForms, ClipWithBoundsOfRunTime) {
  ModelBuilder m = of(13, {3});
  m.weights("two", {}, {2})
      .node("ReduceMax", {"x"}, {"most"}, {{"keepdims", 0}})
      .node("Div", {"most", "two"}, {"half"});
  m.node("Clip", {"x", "", "half"}, {"y"});
  EXPECT_EQ(floats_of(run(m, counting({3}))), (Floats{1, 1.5f, 1.5f}));
}

TEST(OperatorForms, SliceByAttributesOrInputs) {
  ModelBuilder old = of(9, {4, 5}), now = of(13, {4, 5});
  old.node("Slice", {"x"}, {"y"},
           {{"starts", Ints{1, -3}}, {"ends", Ints{3, 1000}}, {"axes", Ints{0, 1}}});
  now.ints("s", {1, -3})
      .ints("e", {3, 1000})
      .ints("a", {0, 1})
      .node("Slice", {"x", "s", "e", "a"}, {"y"});
  expect_same(old, now, counting({4, 5}));
}

TEST(OperatorForms, SqueezeAndUnsqueezeByAttributeOrInput) {
  ModelBuilder old = of(11, {2, 1, 3}), now = of(13, {2, 1, 3});
  old.node("Squeeze", {"x"}, {"s"}, {{"axes", Ints{1}}})
      .node("Unsqueeze", {"s"}, {"y"}, {{"axes", Ints{0, -1}}});
  now.ints("a", {1})
      .ints("b", {0, -1})
      .node("Squeeze", {"x", "a"}, {"s"})
      .node("Unsqueeze", {"s", "b"}, {"y"});
  expect_same(old, now, counting({2, 1, 3}));
}

TEST(OperatorForms, ReduceByAttributeOrInput) {
  for (const char* op : {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceL2"}) {
    ModelBuilder old = of(11, {2, 3, 4}), now = of(18, {2, 3, 4});
    old.node(op, {"x"}, {"y"}, {{"axes", Ints{1, -1}}, {"keepdims", 0}});
    now.ints("a", {1, -1}).node(op, {"x", "a"}, {"y"}, {{"keepdims", 0}});
    expect_same(old, now, counting({2, 3, 4}));
  }
}

TEST(OperatorForms, SplitByAttributeInputOrCount) {
  Tensor x = counting({2, 6});
  ModelBuilder old = of(11, {2, 6}), now = of(13, {2, 6}), equal = of(11, {2, 6}),
               uneven = of(18, {2, 7});
  old.node("Split", {"x"}, {"p", "y"}, {{"axis", 1}, {"split", Ints{2, 4}}});
  now.ints("s", {2, 4}).node("Split", {"x", "s"}, {"p", "y"}, {{"axis", 1}});
  expect_same(old, now, x);
  equal.node("Split", {"x"}, {"p", "y"}, {{"axis", 1}});
  EXPECT_EQ(floats_of(run(equal, x)), (Floats{4, 5, 6, 10, 11, 12}));
  uneven.node("Split", {"x"}, {"p", "q", "y"}, {{"axis", 1}, {"num_outputs", 3}});
  EXPECT_EQ(floats_of(run(uneven, counting({2, 7}))), (Floats{7, 14}));
}

TEST(OperatorForms, PadByAttributesOrInputs) {
  ModelBuilder old = of(10, {2, 2}), now = of(13, {2, 2}), some = of(18, {2, 2});
  old.node("Pad", {"x"}, {"y"}, {{"pads", Ints{0, 1, 0, 2}}, {"value", 9.0f}});
  now.ints("p", {0, 1, 0, 2}).weights("v", {}, {9}).node("Pad", {"x", "p", "v"}, {"y"});
  some.ints("p", {1, 2})
      .weights("v", {}, {9})
      .ints("a", {-1})
      .node("Pad", {"x", "p", "v", "a"}, {"y"});
  expect_same(old, now, counting({2, 2}));
  expect_same(now, some, counting({2, 2}));
}

TEST(OperatorForms, UpsampleByAttributeInputOrResize) {
  ModelBuilder seven = of(7, {1, 1, 2, 2}), nine = of(9, {1, 1, 2, 2}), ten = of(10, {1, 1, 2, 2});
  seven.node("Upsample", {"x"}, {"y"}, {{"scales", Floats{1, 1, 2, 3}}, {"mode", "nearest"}});
  nine.weights("s", {4}, {1, 1, 2, 3}).node("Upsample", {"x", "s"}, {"y"});
  ten.weights("s", {4}, {1, 1, 2, 3}).node("Resize", {"x", "s"}, {"y"});
  expect_same(seven, nine, counting({1, 1, 2, 2}));
  expect_same(nine, ten, counting({1, 1, 2, 2}));
  EXPECT_EQ(floats_of(run(ten, counting({1, 1, 1 + 1, 2}))),
            (Floats{1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 3, 3, 3, 4, 4, 4}));
}

// ONNX's own test of set 10: resize_downsample_nearest.
TEST(OperatorForms, ResizeOfSetTenReadsTheElementAboveWhereItShrinks) {
  ModelBuilder m = of(10, {1, 1, 2, 4});
  m.weights("s", {4}, {1, 1, 0.6f, 0.6f}).node("Resize", {"x", "s"}, {"y"});
  EXPECT_EQ(floats_of(run(m, counting({1, 1, 2, 4}))), (Floats{1, 3}));
  ModelBuilder both = of(10, {1, 1, 2, 4});
  both.weights("s", {4}, {1, 1, 2, 0.6f}).node("Resize", {"x", "s"}, {"y"});
  EXPECT_FALSE(both.import().ok());
}

// Exporters list the places of a mask that they know.
TEST(OperatorForms, NonZeroOfALargeConstantIsKnown) {
  ModelBuilder m(14);
  m.output("y").ints("shape", {300, 300});
  m.node("ConstantOfShape", {"shape"}, {"zeros"}).node("Cos", {"zeros"}, {"ones"});
  m.node("Trilu", {"ones"}, {"mask"}, {{"upper", 0}}).node("NonZero", {"mask"}, {"y"});
  const auto imported = m.import();
  ASSERT_TRUE(imported.ok()) << imported.error().message;
  const Graph& graph = imported->graph;
  EXPECT_EQ(graph.value(graph.outputs()[0]).type.dims, (Dims{2, 45150}));
}

TEST(OperatorForms, SoftmaxBeforeThirteenSeesAMatrix) {
  ModelBuilder old = of(11, {2, 2, 2}), written_out = of(13, {2, 2, 2}), last = of(13, {2, 2, 2});
  old.node("Softmax", {"x"}, {"y"}, {{"axis", 1}});
  written_out.ints("m", {2, 4})
      .ints("d", {2, 2, 2})
      .node("Reshape", {"x", "m"}, {"f"})
      .node("Softmax", {"f"}, {"s"});
  written_out.node("Reshape", {"s", "d"}, {"y"});
  expect_same(old, written_out, counting({2, 2, 2}));
  last.node("Softmax", {"x"}, {"y"}, {{"axis", 1}});
  EXPECT_NE(floats_of(run(last, counting({2, 2, 2}))), floats_of(run(old, counting({2, 2, 2}))))
      << "the forms do differ";
}

TEST(OperatorForms, SoftmaxOverOnePixelKeepsOneNode) {
  ModelBuilder m(11);
  m.input("x", {"N", 5, 1, 1}).output("y").node("Softmax", {"x"}, {"y"}, {{"axis", 1}});
  auto imported = m.import();
  ASSERT_TRUE(imported.ok()) << imported.error().message;
  EXPECT_EQ(imported->graph.live_node_count(), 1);
}

TEST(OperatorForms, SoftmaxOfASymbolicBatch) {
  ModelBuilder m(11);
  m.input("x", {"N", 2, 3}).output("y").node("Softmax", {"x"}, {"y"});
  Tensor y = run(m, counting({4, 2, 3}));
  EXPECT_EQ(y.dims(), (Dims{4, 2, 3}));
}

TEST(OperatorForms, LegacyBroadcastAlignsAtItsAxis) {
  ModelBuilder old = of(6, {2, 3, 2}), now = of(13, {2, 3, 2});
  old.weights("c", {3}, {10, 20, 30})
      .node("Add", {"x", "c"}, {"y"}, {{"broadcast", 1}, {"axis", 1}});
  now.weights("c", {3, 1}, {10, 20, 30}).node("Add", {"x", "c"}, {"y"});
  expect_same(old, now, counting({2, 3, 2}));
}

TEST(OperatorForms, DropoutIsTheIdentityWithATrueMask) {
  ModelBuilder six = of(6, {3}), thirteen = of(13, {3}), mask = of(13, {3}), training = of(13, {3});
  six.node("Dropout", {"x"}, {"y"}, {{"ratio", 0.5f}, {"is_test", 1}});
  thirteen.weights("r", {}, {0.5f}).node("Dropout", {"x", "r"}, {"y"});
  expect_same(six, thirteen, counting({3}));
  mask.node("Dropout", {"x"}, {"p", "y"});
  EXPECT_EQ(floats_of(run(mask, counting({3}))), (Floats{1, 1, 1}));
  training.weights("r", {}, {0.5f});
  auto* t = training.graph().add_initializer();
  t->set_name("t");
  t->set_data_type(onnx::TensorProto::BOOL);
  t->add_int32_data(1);
  training.node("Dropout", {"x", "r", "t"}, {"y"});
  EXPECT_FALSE(training.import().ok());
}

TEST(OperatorForms, ConstantInEveryForm) {
  Tensor x = counting({2});
  auto with = [&](const Attr& value) {
    ModelBuilder m = of(13, {2});
    m.node("Constant", {}, {"c"}, {value})
        .node("Cast", {"c"}, {"f"}, {{"to", kFloat}})
        .node("Add", {"x", "f"}, {"y"});
    return floats_of(run(m, x));
  };
  onnx::TensorProto tensor;
  tensor.set_data_type(onnx::TensorProto::FLOAT16);
  tensor.add_int32_data(0x4900);  // 10 as float16
  EXPECT_EQ(with({"value", tensor}), (Floats{11, 12}));
  EXPECT_EQ(with({"value_float", 2.0f}), (Floats{3, 4}));
  EXPECT_EQ(with({"value_floats", Floats{2, 3}}), (Floats{3, 5}));
  EXPECT_EQ(with({"value_int", 2}), (Floats{3, 4}));
  EXPECT_EQ(with({"value_ints", Ints{2, 3}}), (Floats{3, 5}));
  ModelBuilder text = of(13, {2});
  text.node("Constant", {}, {"c"}, {{"value_string", "words"}}).node("Identity", {"x"}, {"y"});
  EXPECT_FALSE(text.import().ok());
}

TEST(OperatorForms, AutoPadIsExplicitPadding) {
  for (auto [name, pads] : {std::pair{"SAME_UPPER", Ints{0, 0, 1, 1}},
                            {"SAME_LOWER", Ints{1, 1, 0, 0}},
                            {"VALID", Ints{0, 0, 0, 0}}}) {
    ModelBuilder automatic = of(13, {1, 1, 4, 4}), spelled = of(13, {1, 1, 4, 4});
    automatic.node("MaxPool", {"x"}, {"y"}, {{"kernel_shape", Ints{2, 2}}, {"auto_pad", name}});
    spelled.node("MaxPool", {"x"}, {"y"}, {{"kernel_shape", Ints{2, 2}}, {"pads", pads}});
    expect_same(automatic, spelled, counting({1, 1, 4, 4}));
  }
}

TEST(OperatorForms, AutoPadOfASymbolicSizeNeedsItsSizeOnlyWithAStride) {
  for (int stride : {1, 2}) {
    ModelBuilder m(13);
    m.input("x", {1, 1, "H", 6}).output("y");
    m.node("MaxPool", {"x"}, {"y"},
           {{"kernel_shape", Ints{3, 3}},
            {"strides", Ints{stride, stride}},
            {"auto_pad", "SAME_UPPER"}});
    EXPECT_EQ(m.import().ok(), stride == 1);
    EXPECT_TRUE(m.import({.shapes = {{"x", {1, 1, 7, 6}}}}).ok());
  }
}

TEST(OperatorForms, AutoPadOfADeconvolutionIsExplicitPadding) {
  struct Row {
    const char* automatic;
    Ints kernel, strides, output_shape, pads;
  };
  // An odd total of paddings: its extra element goes to the end for SAME_UPPER, else to the begin.
  const Row rows[] = {
      {"SAME_UPPER", {3, 4}, {2, 1}, {}, {0, 1, 1, 2}},
      {"SAME_LOWER", {3, 4}, {2, 1}, {}, {1, 2, 0, 1}},
      {"SAME_UPPER", {3, 3}, {2, 2}, {6, 4}, {0, 1, 1, 2}},
      {"SAME_LOWER", {3, 3}, {2, 2}, {6, 4}, {1, 2, 0, 1}},
      {"NOTSET", {3, 3}, {2, 2}, {6, 4}, {1, 2, 0, 1}},
      {"VALID", {3, 3}, {2, 2}, {}, {0, 0, 0, 0}},
  };
  for (const Row& row : rows) {
    const Tensor weights = counting({1, 1, row.kernel[0], row.kernel[1]});
    const Floats w = floats_of(weights);
    ModelBuilder automatic = of(13, {1, 1, 3, 3}), spelled = of(13, {1, 1, 3, 3});
    std::vector<Attr> attributes{{"strides", row.strides}, {"auto_pad", row.automatic}};
    if (!row.output_shape.empty()) attributes.emplace_back("output_shape", row.output_shape);
    automatic.weights("w", weights.dims(), w).node("ConvTranspose", {"x", "w"}, {"y"}, attributes);
    spelled.weights("w", weights.dims(), w)
        .node("ConvTranspose", {"x", "w"}, {"y"}, {{"strides", row.strides}, {"pads", row.pads}});
    SCOPED_TRACE(row.automatic);
    expect_same(automatic, spelled, counting({1, 1, 3, 3}));
  }
}

// Wider than the input reaches: output padding, which is at the end, fills the rest.
TEST(OperatorForms, AnOutputShapeBeyondTheInputsReachIsOutputPadding) {
  ModelBuilder shape = of(13, {1, 1, 3}), spelled = of(13, {1, 1, 3});
  for (ModelBuilder* m : {&shape, &spelled}) m->weights("w", {1, 1, 2}, {1, 10});
  shape.node("ConvTranspose", {"x", "w"}, {"y"},
             {{"strides", Ints{3}}, {"output_shape", Ints{10}}});
  spelled.node("ConvTranspose", {"x", "w"}, {"y"},
               {{"strides", Ints{3}}, {"output_padding", Ints{2}}});
  expect_same(shape, spelled, counting({1, 1, 3}));
}

// As PyTorch's AvgPool2d(2560, ceil_mode=True) is exported (EfficientNet of transformers).
TEST(OperatorForms, APoolRoundedUpMayHaveAWindowLargerThanItsInput) {
  const auto pooled = [](int64_t stride, int64_t ceil_mode) {
    ModelBuilder m = of(19, {1, 1, 3, 4});
    m.node("AveragePool", {"x"}, {"y"},
           {{"kernel_shape", Ints{5, 5}},
            {"strides", Ints{stride, stride}},
            {"pads", Ints{1, 0, 0, 0}},
            {"ceil_mode", ceil_mode},
            {"count_include_pad", 1}});
    return m;
  };
  const Tensor y = run(pooled(5, 1), counting({1, 1, 3, 4}));
  EXPECT_EQ(y.dims(), (Dims{1, 1, 1, 1}));
  EXPECT_EQ(floats_of(y), (Floats{78.0F / 16}));  // three rows and one of padding, four columns
  EXPECT_FALSE(pooled(5, 0).import().ok());
  EXPECT_FALSE(pooled(1, 1).import().ok());
}

TEST(OperatorForms, AveragePoolCountsItsPaddingWhenAsked) {
  for (const auto& [count, expected] :
       {std::pair{0, Floats{4, 8, 12, 16}}, {1, Floats{1, 2, 3, 4}}}) {
    ModelBuilder m = of(13, {1, 1, 2, 2});
    m.node("AveragePool", {"x"}, {"y"},
           {{"kernel_shape", Ints{2, 2}},
            {"strides", Ints{2, 2}},
            {"pads", Ints{1, 1, 1, 1}},
            {"count_include_pad", count}});
    EXPECT_EQ(floats_of(run(m, Tensor::of<float>({1, 1, 2, 2}, {4, 8, 12, 16}))), expected);
  }
}

// Square matrices: a transposition that is overlooked leaves the dims as they are.
TEST(OperatorForms, GemmTransposesWhatItIsTold) {
  const Tensor x = Tensor::of<float>({2, 2}, {1, 2, 3, 4});
  const auto product = [&](int trans_a, int trans_b) {
    ModelBuilder m = of(13, {2, 2});
    m.weights("w", {2, 2}, {5, 6, 7, 8})
        .node("Gemm", {"x", "w"}, {"y"}, {{"transA", trans_a}, {"transB", trans_b}});
    return floats_of(run(m, x));
  };
  EXPECT_EQ(product(0, 0), (Floats{19, 22, 43, 50}));
  EXPECT_EQ(product(0, 1), (Floats{17, 23, 39, 53}));
  EXPECT_EQ(product(1, 0), (Floats{26, 30, 38, 44}));
  EXPECT_EQ(product(1, 1), (Floats{23, 31, 34, 46}));
}

TEST(OperatorForms, ResizeReadsItsCoordinates) {
  const auto resized = [](const char* mode, int64_t size) {
    ModelBuilder m = of(19, {4});
    m.ints("sizes", {size})
        .node("Resize", {"x", "", "", "sizes"}, {"y"},
              {{"mode", "linear"}, {"coordinate_transformation_mode", mode}});
    return floats_of(run(m, Tensor::of<float>({4}, {0, 10, 20, 30})));
  };
  EXPECT_EQ(resized("half_pixel", 2), (Floats{5, 25}));
  EXPECT_EQ(resized("pytorch_half_pixel", 2), (Floats{5, 25}));
  EXPECT_EQ(resized("align_corners", 2), (Floats{0, 30}));
  EXPECT_EQ(resized("asymmetric", 2), (Floats{0, 20}));
  EXPECT_EQ(resized("half_pixel", 1), (Floats{15}));
  EXPECT_EQ(resized("pytorch_half_pixel", 1), (Floats{0})) << "what sets it apart from half_pixel";
}

TEST(OperatorForms, VariadicSumsAndMeans) {
  Tensor x = counting({2});
  for (auto [op, expected] : {std::pair{"Sum", Floats{1 + 10 + 5, 2 + 10 + 5}},
                              {"Max", Floats{10, 10}},
                              {"Min", Floats{1, 2}},
                              {"Mean", Floats{16.0f / 3, 17.0f / 3}}}) {
    ModelBuilder m = of(13, {2});
    m.weights("a", {1}, {10}).weights("b", {}, {5}).node(op, {"x", "a", "b"}, {"y"});
    EXPECT_EQ(floats_of(run(m, x)), expected) << op;
    ModelBuilder one = of(13, {2});
    one.node(op, {"x"}, {"y"});
    EXPECT_EQ(floats_of(run(one, x)), (Floats{1, 2})) << op;
  }
}

TEST(OperatorForms, BatchNormWithStatisticsOfEachPixelIsRefused) {
  ModelBuilder spatial = of(7, {1, 2, 2}), old = of(7, {1, 2, 2});
  for (ModelBuilder* m : {&spatial, &old}) m->weights("s", {2}, {1, 1}).weights("b", {2}, {0, 0});
  spatial.node("BatchNormalization", {"x", "s", "b", "b", "s"}, {"y"}, {{"spatial", 0}});
  old.node("BatchNormalization", {"x", "s", "b", "b", "s"}, {"y", "m", "v"},
           {{"momentum", 0.9f}, {"spatial", 1}});
  EXPECT_FALSE(spatial.import().ok());
  EXPECT_TRUE(old.import().ok());
}

TEST(OperatorForms, TheOldTileIsRefusedNotMisread) {
  ModelBuilder m = of(1, {2});
  m.ints("n", {2}).ints("axis", {0}).node("Tile", {"x", "n", "axis"}, {"y"});
  auto imported = m.import();
  ASSERT_FALSE(imported.ok());
  EXPECT_EQ(imported.error().code, ErrorCode::unsupported);
}

TEST(OperatorForms, NodesKeepTheirNamesAndStepsAreNamedAfterThem) {
  ModelBuilder m = of(11, {2, 2, 2});
  m.node("Softmax", {"x"}, {"y"}, {{"axis", 1}});
  auto imported = m.import();
  ASSERT_TRUE(imported.ok());
  std::vector<std::string> names;
  for (NodeId id : imported->graph.topological_order())
    names.push_back(imported->graph.node(id).name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"Softmax_1/flatten", "Softmax_1/softmax", "Softmax_1"}));
}

}  // namespace
}  // namespace enginery::test
