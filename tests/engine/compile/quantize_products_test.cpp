// A calibration's scales in a graph: where the pairs stand, what stays in float, and which scales
// do not fit.
#include "engine/compile/quantize_products.h"

#include <gtest/gtest.h>

#include "tests/engine/compile/compile_support.h"
#include "tests/engine/passes/passes_support.h"

namespace enginery {
namespace {

// %x and what a ReLU makes of the first product: both are multiplied.
Graph two_convolutions() {
  return convolution_then("%r = act(%c) kind=relu\n %d = conv(%r, %w) " + kConv +
                          "\n %e = conv(%r, %w) " + kConv +
                          "\n %s = binary(%d, %e) kind=add\n output %s");
}

const TensorScales kScales{{{"x", 2.0f / 127}, {"r", 32.0f / 127}, {"c", 1.0f}, {"s", 1.0f}}};

const Node& quantize_of(const Graph& graph, const std::string& tensor) {
  return node_named(graph, tensor + "_quantized");
}

TEST(QuantizeProducts, OnePairForATensorAndOneForWeightsWhoeverReadsThem) {
  Graph graph = two_convolutions();
  const Graph before = graph;
  const auto done = quantize_products(graph, kScales);
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_EQ(done->products, 3);
  EXPECT_TRUE(done->notes.empty());
  EXPECT_EQ(count<Quantize>(graph), 2);
  EXPECT_EQ(count<Dequantize>(graph), 3);
  for (const NodeId id : graph.topological_order()) {
    const Node& node = graph.node(id);
    if (!std::holds_alternative<Convolution>(node.op)) continue;
    for (const ValueId v : node.inputs)
      EXPECT_TRUE(std::holds_alternative<Dequantize>(graph.node(graph.value(v).producer).op));
  }
  // Two sums of 36 products, each rounded to 1/254 of its factors' ranges.
  expect_same_results(before, graph, 0.05);
}

TEST(QuantizeProducts, OfSomeLayersTheOthersStayInFloat) {
  Graph graph = two_convolutions();
  const auto done =
      quantize_products(graph, kScales, [](const std::string& layer) { return layer == "e"; });
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_EQ(done->layers, std::vector<std::string>{"e"});
  EXPECT_EQ(count<Quantize>(graph), 1);
  EXPECT_EQ(count<Dequantize>(graph), 2);
}

TEST(QuantizeProducts, OnlyWhatCannotBeNegativeIsUnsigned) {
  Graph graph = two_convolutions();
  ASSERT_TRUE(quantize_products(graph, kScales).ok());
  const Node &x = quantize_of(graph, "x"), &r = quantize_of(graph, "r");
  EXPECT_EQ(std::get<Quantize>(x.op).to, DataType::int8);
  EXPECT_EQ(std::get<Quantize>(r.op).to, DataType::uint8);
  EXPECT_EQ(graph.constant(x.inputs[1])->data<float>()[0], 2.0f / 127);
  EXPECT_FLOAT_EQ(graph.constant(r.inputs[1])->data<float>()[0], 32.0f / 255);
}

TEST(QuantizeProducts, TheStructureHasNothingOfTheScales) {
  Graph one = two_convolutions(), other = two_convolutions();
  ASSERT_TRUE(quantize_products(one, kScales).ok());
  ASSERT_TRUE(quantize_products(other, {{{"x", 0.5f}, {"r", 0.25f}}}).ok());
  EXPECT_EQ(structure_fingerprint(one), structure_fingerprint(other));
  EXPECT_NE(fingerprint(one), fingerprint(other));
}

TEST(QuantizeProducts, WeightsAreThoseWithTheBatchNormalisationInThem) {
  Graph graph = convolution_then(
      "%k = constant float32[4] {2, 4, 8, 16}\n %z = constant float32[4] {0, 0, 0, 0}\n "
      "%v = constant float32[4] {1, 1, 1, 1}\n %b = batch_norm(%c, %k, %z, %z, %v) epsilon=0\n "
      "output %b");
  ASSERT_TRUE(quantize_products(graph, kScales).ok());
  EXPECT_EQ(count<BatchNorm>(graph), 0);
  EXPECT_EQ(count<Binary>(graph), 0);
  Graph plain = convolution_then("output %c");
  ASSERT_TRUE(quantize_products(plain, kScales).ok());
  const auto scale_of_channel = [](const Graph& g, size_t channel) {
    for (const NodeId id : g.topological_order()) {
      const auto* op = std::get_if<Dequantize>(&g.node(id).op);
      const Tensor* scale = op ? g.constant(g.node(id).inputs[1]) : nullptr;
      if (scale && scale->size() == 4) return scale->data<float>()[channel];
    }
    return 0.0f;
  };
  for (const size_t channel : {0, 1, 2, 3})
    EXPECT_FLOAT_EQ(scale_of_channel(graph, channel),
                    scale_of_channel(plain, channel) * static_cast<float>(2 << channel));
}

// A residual block: %c reads what is added to the second product's result.
TEST(QuantizeProducts, WhatIsAddedToAProductIsReadInEightBits) {
  Graph graph = convolution_then("%r = act(%c) kind=relu\n %d = conv(%r, %w) " + kConv +
                                 "\n %s = binary(%d, %r) kind=add\n output %s");
  const Graph before = graph;
  ASSERT_TRUE(quantize_products(graph, kScales).ok());
  EXPECT_EQ(count<Quantize>(graph), 2);
  for (const NodeId id : graph.topological_order()) {
    const Node& node = graph.node(id);
    if (std::holds_alternative<Binary>(node.op)) {
      EXPECT_TRUE(
          std::holds_alternative<Dequantize>(graph.node(graph.value(node.inputs[1]).producer).op));
    }
  }
  expect_same_results(before, graph, 0.05);
}

TEST(QuantizeProducts, AMaximumBeforeAProductHasTheScaleOfItsSource) {
  Graph graph = convolution_then(
      "%p = pool(%c) kind=max kernel=[1,1] strides=[1,1] dilations=[1,1] pads_begin=[0,0] "
      "pads_end=[0,0]\n %d = conv(%p, %w) " +
      kConv + "\n output %d");
  ASSERT_TRUE(quantize_products(graph, {{{"x", 2.0f / 127}, {"c", 0.25f}, {"p", 0.125f}}}).ok());
  EXPECT_EQ(count<Quantize>(graph), 3);
  for (const char* name : {"c", "p"})
    EXPECT_EQ(graph.constant(quantize_of(graph, name).inputs[1])->data<float>()[0], 0.25f) << name;
}

TEST(QuantizeProducts, BytesThatWereCastAreReadAsTheyAre) {
  Graph graph = parse(
      "input %u : uint8[1x4x4x4]\n %w = constant float32[4x4x1x1] random(1)\n %k = constant "
      "float32[] {0.25}\n %f = cast(%u) to=float32\n %m = binary(%f, %k) kind=mul\n %c = "
      "conv(%m, %w) strides=[1,1] dilations=[1,1] "
      "pads_begin=[0,0] pads_end=[0,0] groups=1\n output %c");
  const auto done = quantize_products(graph, {{{"m", 1.0f}}});
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_EQ(done->counted, 1);
  const Node& m = quantize_of(graph, "m");
  EXPECT_EQ(std::get<Quantize>(m.op).to, DataType::uint8);
  EXPECT_FLOAT_EQ(graph.constant(m.inputs[1])->data<float>()[0], 0.25f);
}

// A product of bytes which a Cast or a DequantizeLinear makes floats.
Digest structure_behind(const std::string& op, const std::vector<std::string>& inputs,
                        const std::vector<test::Attr>& attributes) {
  test::ModelBuilder source;
  source.input("u", {2, 2}, 2).weights("k", {}, {1}).weights("w", {2, 2}, {1, 2, 3, 4});
  source.node(op, inputs, {"x"}, attributes).node("MatMul", {"x", "w"}, {"y"}).output("y");
  const TensorScales scales{{{"x", 0.5f}}};
  const auto model = load_model(source.source(), "net", test::one_thread(), {}, &scales);
  EXPECT_TRUE(model.ok()) << model.error().message;
  return model.ok() ? model->structure_digest : Digest();
}

// Tuning chooses between the network in 8 bits, where the two are one, and that in float.
TEST(QuantizeProducts, TheStructureKnowsWhatMadeTheBytesFloats) {
  EXPECT_NE(structure_behind("Cast", {"u"}, {{"to", int64_t{1}}}),
            structure_behind("DequantizeLinear", {"u", "k"}, {}));
}

TEST(QuantizeProducts, AMatrixHasAScaleForEachColumn) {
  Graph graph = parse(
      "input %x : float32[2x3]\n %w = constant float32[3x4] random(1)\n %y = matmul(%x, %w)\n "
      "output %y");
  ASSERT_TRUE(quantize_products(graph, kScales).ok());
  for (const NodeId id : graph.topological_order()) {
    const auto* op = std::get_if<Dequantize>(&graph.node(id).op);
    if (op && graph.constant(graph.node(id).inputs[0])) {
      EXPECT_EQ(op->axis, 1);
      EXPECT_EQ(graph.constant(graph.node(id).inputs[1])->size(), 4);
    }
  }
}

TEST(QuantizeProducts, NamesWhatHasNoScale) {
  Graph graph = two_convolutions();
  const auto partly = quantize_products(graph, {{{"x", 1.0f}}});
  ASSERT_FALSE(partly.ok());
  EXPECT_EQ(partly.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(partly.error().message.find("no scale for tensor 'r'"), std::string::npos)
      << partly.error().message;
  graph = two_convolutions();
  const auto none = quantize_products(graph, {{{"another", 1.0f}}});
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().message.find("of another model"), std::string::npos)
      << none.error().message;
}

// TensorRT writes a scale of 0 for constants, and Infinity happens.
TEST(QuantizeProducts, AScaleThatIsNoneIsAnErrorOnlyOfWhatIsMultiplied) {
  Graph graph = two_convolutions();
  TensorScales scales = kScales;
  scales.known.erase("s");
  scales.unusable = {{"s", "inf in line 7 of its table"}, {"gone", "0 in line 9 of its table"}};
  const auto done = quantize_products(graph, scales);
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_EQ(done->products, 3);
  ASSERT_EQ(done->notes.size(), 2u);
  EXPECT_NE(done->notes[0].find("not in the model: 'gone'"), std::string::npos) << done->notes[0];
  EXPECT_NE(done->notes[1].find("none is needed: 's'"), std::string::npos) << done->notes[1];
  graph = two_convolutions();
  scales.known.erase("r");
  scales.unusable["r"] = "0 in line 3 of its table";
  const auto refused = quantize_products(graph, scales);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(refused.error().message.find("tensor 'r' is 0 in line 3 of its table"),
            std::string::npos)
      << refused.error().message;
  const auto without_it =
      quantize_products(graph, scales, [](const std::string& layer) { return layer == "c"; });
  EXPECT_TRUE(without_it.ok()) << "the layers that read 'r' stay in float";
}

TEST(QuantizeProducts, SaysWhichScalesNobodyHasAndWhatStaysInFloat) {
  Graph graph = convolution_then(
      "%t = transpose(%c) permutation=[0,1,3,2]\n %m = matmul(%c, %t)\n output %m");
  const auto done = quantize_products(graph, {{{"x", 1.0f}, {"gone", 1.0f}}});
  ASSERT_TRUE(done.ok()) << done.error().message;
  ASSERT_EQ(done->notes.size(), 2u);
  EXPECT_NE(done->notes[0].find("not in the model: 'gone'"), std::string::npos) << done->notes[0];
  EXPECT_NE(done->notes[1].find("in float: 'm'"), std::string::npos) << done->notes[1];
  EXPECT_EQ(done->products, 1);
}

TEST(QuantizeProducts, RefusesAModelWithoutProducts) {
  Graph graph = parse("input %x : float32[2x3]\n %y = act(%x) kind=relu\n output %y");
  const auto done = quantize_products(graph, kScales);
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code, ErrorCode::unsupported);
}

}  // namespace
}  // namespace enginery
