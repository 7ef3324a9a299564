// Operators on 8-bit numbers: they are read as real ones between Dequantize and Quantize, which is
// what runs in integers; and what is refused of them.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include "engine/graph/run_graph.h"
#include "tests/engine/import/model_builder.h"

namespace enginery::test {
namespace {

constexpr int kUint8 = 2, kInt8 = 3, kInt32 = 6;

// A constant of small integers.
void integers(ModelBuilder& m, const std::string& name, int type, const std::vector<int64_t>& dims,
              const std::vector<int32_t>& values) {
  onnx::TensorProto& tensor = *m.graph().add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(type);
  for (const int64_t d : dims) tensor.add_dims(d);
  for (const int32_t v : values) tensor.add_int32_data(v);
}

// x in steps of 0.5 from 10, y in steps of 0.25 from 3.
ModelBuilder with_steps(const std::vector<Size>& sizes) {
  ModelBuilder m(13);
  m.input("x", sizes, kUint8).output("y");
  m.weights("xs", {}, {0.5f}).weights("ys", {}, {0.25f});
  integers(m, "xz", kUint8, {}, {10});
  integers(m, "yz", kUint8, {}, {3});
  return m;
}

ModelBuilder& of_microsoft(ModelBuilder& m) {
  m.graph().mutable_node(m.graph().node_size() - 1)->set_domain("com.microsoft");
  return m;
}

std::vector<int> result_of(const ModelBuilder& m, const Dims& dims, const std::vector<uint8_t>& x) {
  const auto imported = m.import();
  if (!imported.ok()) {
    ADD_FAILURE() << imported.error().message;
    return {};
  }
  const auto outputs =
      run_graph(imported->graph, {{"x", Tensor::of<uint8_t>(dims, std::span<const uint8_t>(x))}});
  if (!outputs.ok()) {
    ADD_FAILURE() << outputs.error().message;
    return {};
  }
  const auto y = outputs->at("y").data<uint8_t>();
  return {y.begin(), y.end()};
}

template <typename T>
int nodes_of(const ModelBuilder& m) {
  const auto imported = m.import();
  int count = 0;
  for (const NodeId id : imported->graph.topological_order())
    count += std::holds_alternative<T>(imported->graph.node(id).op);
  return count;
}

TEST(QuantizedOperators, ASumCountsInTheResultsSteps) {
  ModelBuilder m = with_steps({3});
  m.weights("bs", {}, {1});
  integers(m, "b", kUint8, {3}, {0, 1, 2});
  m.node("QLinearAdd", {"x", "xs", "xz", "b", "bs", "", "ys", "yz"}, {"y"});
  // (-5 + 0) / 0.25 + 3 = -17 is 0; (0 + 1) * 4 + 3; (122.5 + 2) * 4 + 3 is 255.
  EXPECT_EQ(result_of(of_microsoft(m), {3}, {0, 10, 255}), (std::vector<int>{0, 7, 255}));
}

TEST(QuantizedOperators, PartsOfAConcatHaveTheirOwnSteps) {
  ModelBuilder m = with_steps({1, 2});
  m.weights("bs", {}, {0.25f});
  integers(m, "b", kUint8, {1, 1}, {9});
  m.node("QLinearConcat", {"ys", "yz", "x", "xs", "xz", "b", "bs", "yz"}, {"y"}, {{"axis", 1}});
  EXPECT_EQ(result_of(of_microsoft(m), {1, 2}, {10, 12}), (std::vector<int>{3, 7, 9}));
  m.graph().mutable_node(0)->mutable_input()->RemoveLast();
  m.graph().mutable_node(0)->mutable_input()->RemoveLast();
  EXPECT_FALSE(m.import().ok()) << "a part without a scale";
}

// [1, 1, 2, 2] times 2, plus a bias of 4 units of 0.5 * 0.5.
ModelBuilder convolution_of_integers() {
  ModelBuilder m = with_steps({1, 1, 2, 2});
  m.weights("ws", {1}, {0.5f});
  integers(m, "w", kInt8, {1, 1, 1, 1}, {4});
  integers(m, "wz", kInt8, {1}, {0});
  integers(m, "bias", kInt32, {1}, {4});
  return m;
}

TEST(QuantizedOperators, AConvolutionByConstantsIsOneOfRealNumbers) {
  ModelBuilder m = convolution_of_integers();
  m.node("QLinearConv", {"x", "xs", "xz", "w", "ws", "wz", "ys", "yz", "bias"}, {"y"});
  EXPECT_EQ(result_of(m, {1, 1, 2, 2}, {10, 11, 12, 6}), (std::vector<int>{7, 11, 15, 0}));
  EXPECT_EQ(nodes_of<Dequantize>(m), 2) << "of x and of the weights";
  EXPECT_EQ(nodes_of<Quantize>(m), 1);
}

// A scale that each run tells.
TEST(QuantizedOperators, AConvolutionByInputsIsExactInIntegers) {
  ModelBuilder m = convolution_of_integers();
  m.input("scale", {1})
      .node("QLinearConv", {"x", "xs", "xz", "w", "scale", "wz", "ys", "yz"}, {"y"});
  EXPECT_EQ(nodes_of<Dequantize>(m), 0);
}

TEST(QuantizedOperators, AProductOfMatricesHasItsBiasInUnitsOfBothScales) {
  ModelBuilder m = with_steps({1, 2});
  m.weights("ws", {2}, {0.5f, 1});
  integers(m, "w", kInt8, {2, 2}, {1, 2, 3, 4});
  integers(m, "wz", kInt8, {2}, {0, 0});
  integers(m, "c", kInt32, {2}, {4, -2});
  m.node("QGemm", {"x", "xs", "xz", "w", "ws", "wz", "c", "ys", "yz"}, {"y"}, {{"transB", 1}});
  // x = {1, 2}: 0.5 * (1 + 4) + 4 * 0.25 and 3 + 8 - 2 * 0.5.
  EXPECT_EQ(result_of(of_microsoft(m), {1, 2}, {12, 14}), (std::vector<int>{17, 43}));
}

TEST(QuantizedOperators, WithoutAScaleAProductIsReal) {
  ModelBuilder m = with_steps({1, 2});
  m.weights("ws", {}, {0.5f});
  integers(m, "w", kInt8, {2, 1}, {1, 2});
  m.node("QGemm", {"x", "xs", "xz", "w", "ws", ""}, {"y"}, {{"alpha", 2.0f}});
  const auto imported = of_microsoft(m).import();
  ASSERT_TRUE(imported.ok()) << imported.error().message;
  const auto y = run_graph(imported->graph, {{"x", Tensor::of<uint8_t>({1, 2}, {12, 14})}});
  ASSERT_TRUE(y.ok()) << y.error().message;
  EXPECT_EQ(y->at("y").data<float>()[0], 5);
}

TEST(QuantizedOperators, ChannelsLastAndASoftmaxOverSeveralDimensionsAreRefused) {
  struct Case {
    const char* op;
    std::vector<Attr> attributes;
    const char* says;
  };
  const Case cases[] = {{"QLinearGlobalAveragePool", {{"channels_last", 1}}, "channels_last=1"},
                        {"QLinearSoftmax", {{"axis", 1}, {"opset", 11}}, "several dimensions"},
                        {"QLinearTangent", {}, "is not supported"}};
  for (const Case& c : cases) {
    ModelBuilder m = with_steps({1, 2, 3, 3});
    m.node(c.op, {"x", "xs", "xz", "ys", "yz"}, {"y"}, c.attributes);
    const auto imported = of_microsoft(m).import();
    ASSERT_FALSE(imported.ok()) << c.op;
    EXPECT_TRUE(contains(imported.error().message, c.says)) << imported.error().message;
  }
}

}  // namespace
}  // namespace enginery::test
