// Operators that are read as several of ours, on numbers that can be worked out by hand. ONNX's own
// data (tests/conformance/onnx) covers their forms.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <cmath>

#include "engine/graph/text.h"
#include "tests/engine/import/model_builder.h"
#include "tests/support/reference_executor.h"

namespace enginery::test {
namespace {

using Numbers = std::vector<float>;

// The output `name` for x; empty, and a failure, on any error.
Numbers output_of(const ModelBuilder& model, const Dims& dims, const Numbers& x,
                  const std::string& name = "y") {
  auto imported = model.import();
  if (!imported.ok()) {
    ADD_FAILURE() << imported.error().message;
    return {};
  }
  auto outputs = run_graph(imported->graph, {{"x", Tensor::of<float>(dims, x)}});
  if (!outputs.ok()) {
    ADD_FAILURE() << outputs.error().message;
    return {};
  }
  const Tensor wide = convert(outputs->at(name), DataType::float32);
  return {wide.data<float>().begin(), wide.data<float>().end()};
}

void expect_near(const Numbers& got, const Numbers& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], 1e-5) << "element " << i;
}

std::string refused(const ModelBuilder& model) {
  auto imported = model.import();
  return imported.ok() ? "it was imported" : imported.error().message;
}

ModelBuilder with_input(const std::vector<Size>& sizes, int64_t opset = 18) {
  ModelBuilder m(opset);
  m.input("x", sizes).output("y");
  return m;
}

ModelBuilder& microsoft(ModelBuilder& m) {
  m.graph().mutable_node(m.graph().node_size() - 1)->set_domain("com.microsoft");
  return m;
}

// A layer over x [2, 1, 1] with a state of one number and weights of zero but for the input's.
ModelBuilder recurrent(const std::string& op, int64_t gates, float weight,
                       const std::vector<Attr>& attributes, const std::vector<int64_t>& lengths) {
  ModelBuilder m = with_input({2, 1, 1});
  const size_t n = static_cast<size_t>(gates);
  m.weights("w", {1, gates, 1}, Numbers(n, weight)).weights("r", {1, gates, 1}, Numbers(n, 0));
  m.weights("h0", {1, 1, 1}, {8}).ints("n", lengths);
  std::vector<Attr> all = attributes;
  all.emplace_back("hidden_size", 1);
  m.node(op, {"x", "w", "r", "", lengths.empty() ? "" : "n", "h0"}, {"y", "last"}, all);
  return m;
}

TEST(Decomposition, AGruWithoutWeightsHalvesItsState) {
  expect_near(output_of(recurrent("GRU", 3, 0, {}, {}), {2, 1, 1}, {1, 1}), {4, 2});
  expect_near(output_of(recurrent("GRU", 3, 0, {{"direction", "reverse"}}, {}), {2, 1, 1}, {1, 1}),
              {2, 4});
}

TEST(Decomposition, ASequenceThatEndsKeepsItsStateAndGivesZeros) {
  ModelBuilder m = recurrent("GRU", 3, 0, {}, {1});
  m.output("last");
  expect_near(output_of(m, {2, 1, 1}, {1, 1}), {4, 0});
  expect_near(output_of(m, {2, 1, 1}, {1, 1}, "last"), {4});
}

TEST(Decomposition, ARecurrentLayersFunctionsTakeTheirNumbersInOrder) {
  ModelBuilder m = recurrent("RNN", 1, 3, {{"activation_alpha", Numbers{2}}}, {});
  onnx::AttributeProto& names = *m.graph().mutable_node(0)->add_attribute();
  names.set_name("activations");
  names.set_type(onnx::AttributeProto::STRINGS);
  names.add_strings("Affine");
  expect_near(output_of(m, {2, 1, 1}, {1, -2}), {6, -12});
  names.set_strings(0, "Frobnicate");
  EXPECT_TRUE(contains(refused(m), "activation 'frobnicate' is not supported")) << refused(m);
}

TEST(Decomposition, AnLstmWithoutWeightsHalvesItsCell) {
  ModelBuilder m = with_input({1, 1, 1});
  m.weights("w", {1, 4, 1}, Numbers(4, 0)).weights("r", {1, 4, 1}, Numbers(4, 0));
  m.weights("c0", {1, 1, 1}, {2})
      .node("LSTM", {"x", "w", "r", "", "", "", "c0"}, {"y"}, {{"hidden_size", 1}});
  expect_near(output_of(m, {1, 1, 1}, {5}), {0.5f * std::tanh(1.0f)});
}

TEST(Decomposition, TooManyStepsAreRefused) {
  ModelBuilder m = with_input({2000, 1, 1});
  m.weights("w", {1, 1, 1}, {0}).weights("r", {1, 1, 1}, {0});
  m.node("RNN", {"x", "w", "r"}, {"y"}, {{"hidden_size", 1}});
  EXPECT_TRUE(contains(refused(m), "2000 steps; from 1 to 1024 are supported")) << refused(m);
}

TEST(Decomposition, AFusedProductIsScaledAndTransposed) {
  ModelBuilder m = with_input({2, 2});
  m.weights("b", {2, 2}, {1, 2, 3, 4});
  m.node("FusedMatMul", {"x", "b"}, {"y"}, {{"transA", 1}, {"alpha", 0.5f}});
  expect_near(output_of(microsoft(m), {2, 2}, {1, 0, 2, 0}), {3.5f, 5, 0, 0});
}

TEST(Decomposition, AFusedConvolutionAddsBeforeItsActivation) {
  ModelBuilder m = with_input({1, 1, 2});
  m.weights("w", {1, 1, 1}, {1}).weights("b", {1}, {0}).weights("z", {1, 1, 2}, {-2, 1});
  m.node("FusedConv", {"x", "w", "b", "z"}, {"y"}, {{"activation", "Relu"}});
  expect_near(output_of(microsoft(m), {1, 1, 2}, {1, 1}), {0, 2});
}

TEST(Decomposition, ASkipNormalizationGivesItsSumToo) {
  ModelBuilder m = with_input({1, 1, 2});
  m.output("sum").weights("s", {1, 1, 2}, {1, 1}).weights("g", {2}, {3, 3});
  m.node("SkipLayerNormalization", {"x", "s", "g"}, {"y", "", "", "sum"});
  microsoft(m);
  expect_near(output_of(m, {1, 1, 2}, {0, 2}), {-3, 3});
  expect_near(output_of(m, {1, 1, 2}, {0, 2}, "sum"), {1, 3});
}

// Kernels know RMS and group normalisation whole.
TEST(Decomposition, RmsAndGroupNormalizationStayOneNode) {
  ModelBuilder rms = with_input({1, 2, 2}, 23);
  rms.weights("g", {2}, {1, 2}).node("RMSNormalization", {"x", "g"}, {"y"}, {{"epsilon", 0.0f}});
  expect_near(output_of(rms, {1, 2, 2}, {3, 4, 0, 5}),
              {3 / std::sqrt(12.5f), 8 / std::sqrt(12.5f), 0, 10 / std::sqrt(12.5f)});
  ModelBuilder group = with_input({1, 4, 1}, 21);
  group.weights("g", {4}, {1, 2, 3, 4}).weights("b", {4}, {0, 0, 1, 1});
  group.node("GroupNormalization", {"x", "g", "b"}, {"y"}, {{"num_groups", 2}, {"epsilon", 0.0f}});
  expect_near(output_of(group, {1, 4, 1}, {1, 3, 10, 30}), {-1, 2, -2, 5});
  for (const auto& [model, node] :
       {std::pair(&rms, "rms_norm("), std::pair(&group, "group_norm(")}) {
    const auto imported = model->import();
    ASSERT_TRUE(imported.ok());
    const std::string text = to_text(imported->graph);
    EXPECT_TRUE(contains(text, node)) << text;
    EXPECT_FALSE(contains(text, "reduce(") || contains(text, "reshape(")) << text;
  }
}

TEST(Decomposition, AnUnknownOperatorOfMicrosoftIsRefused) {
  ModelBuilder m = with_input({2});
  m.node("Relu", {"x"}, {"y"});
  EXPECT_TRUE(
      contains(refused(microsoft(m)), "(com.microsoft.Relu): the operator is not supported"))
      << refused(m);
}

// Queries of zero look at every key alike; a causal one at those up to itself.
TEST(Decomposition, AttentionAveragesTheValuesThatItMayLookAt) {
  for (const int causal : {0, 1}) {
    ModelBuilder m = with_input({1, 1, 2, 1}, 23);
    m.weights("zero", {1, 1, 2, 1}, {0, 0});
    m.node("Attention", {"zero", "x", "x"}, {"y"}, {{"is_causal", causal}});
    expect_near(output_of(m, {1, 1, 2, 1}, {2, 6}), {causal ? 2.0f : 4.0f, 4});
  }
}

// Four heads of queries share two of keys, which the pass fuse_attention reads in place where they
// are repeated as exporters do it.
TEST(Decomposition, AttentionRepeatsSharedHeadsWithoutGathering) {
  ModelBuilder m = with_input({1, 2, 1, 1}, 23);
  m.weights("q", {1, 4, 1, 1}, {0, 0, 0, 0});
  m.node("Attention", {"q", "x", "x"}, {"y"});
  expect_near(output_of(m, {1, 2, 1, 1}, {2, 6}), {2, 2, 6, 6});
  const auto imported = m.import();
  ASSERT_TRUE(imported.ok());
  const std::string text = to_text(imported->graph);
  EXPECT_EQ(text.find("gather("), std::string::npos) << text;
  EXPECT_NE(text.find("expand("), std::string::npos) << text;
}

TEST(Decomposition, AQueryThatMayLookAtNothingGivesZeros) {
  ModelBuilder m = with_input({1, 1, 2, 1}, 23);
  m.weights("mask", {1, 2}, {-INFINITY, -INFINITY});
  m.node("Attention", {"x", "x", "x", "mask"}, {"y"});
  expect_near(output_of(m, {1, 1, 2, 1}, {2, 6}), {0, 0});
}

TEST(Decomposition, RotaryEmbeddingTurnsPairs) {
  for (const int interleaved : {0, 1}) {
    ModelBuilder m = with_input({1, 1, 1, 4}, 23);
    m.weights("c", {1, 1, 2}, {0, 1}).weights("s", {1, 1, 2}, {1, 0});
    m.node("RotaryEmbedding", {"x", "c", "s"}, {"y"}, {{"interleaved", interleaved}});
    expect_near(output_of(m, {1, 1, 1, 4}, {1, 2, 3, 4}),
                interleaved ? Numbers{-2, 1, 3, 4} : Numbers{-3, 2, 1, 4});
  }
}

// Channels of 1, 2 and 3, 4; running means of 0 and variances of 1.
TEST(Decomposition, ABatchNormOfTheBatchComputesItsStatisticsAndMixesThemIn) {
  ModelBuilder m = with_input({1, 2, 2});
  m.output("mean").weights("one", {2}, {1, 1}).weights("zero", {2}, {0, 0});
  m.node("BatchNormalization", {"x", "one", "zero", "zero", "one"}, {"y", "mean", ""},
         {{"training_mode", 1}, {"epsilon", 0.0f}, {"momentum", 0.75f}});
  expect_near(output_of(m, {1, 2, 2}, {1, 2, 3, 4}), {-1, 1, -1, 1});
  expect_near(output_of(m, {1, 2, 2}, {1, 2, 3, 4}, "mean"), {0.375f, 0.875f});
}

TEST(Decomposition, GridSampleReadsBetweenPixelsAndNothingOutside) {
  ModelBuilder m = with_input({1, 1, 1, 2}), border = with_input({1, 1, 1, 2});
  m.weights("g", {1, 1, 2, 2}, {0, 0, 2, 0}).node("GridSample", {"x", "g"}, {"y"});
  expect_near(output_of(m, {1, 1, 1, 2}, {2, 4}), {3, 0});
  border.weights("g", {1, 1, 2, 2}, {0, 0, 2, 0})
      .node("GridSample", {"x", "g"}, {"y"}, {{"padding_mode", "border"}});
  expect_near(output_of(border, {1, 1, 1, 2}, {2, 4}), {3, 4});
}

TEST(Decomposition, BlocksThatOverlapAddUp) {
  ModelBuilder m = with_input({1, 2, 2});
  m.ints("image", {1, 3}).ints("block", {1, 2}).node("Col2Im", {"x", "image", "block"}, {"y"});
  expect_near(output_of(m, {1, 2, 2}, {1, 2, 10, 20}), {1, 12, 20});
}

TEST(Decomposition, ASequenceIsReversedUpToItsLength) {
  ModelBuilder m = with_input({1, 4});
  m.ints("n", {3}).node("ReverseSequence", {"x", "n"}, {"y"},
                        {{"batch_axis", 0}, {"time_axis", 1}});
  expect_near(output_of(m, {1, 4}, {1, 2, 3, 4}), {3, 2, 1, 4});
}

// 300 products of 255 * 255 pass what a float holds exactly.
TEST(Decomposition, AnIntegerConvolutionIsExact) {
  ModelBuilder m = with_input({1, 300, 1});
  onnx::TensorProto& w = *m.graph().add_initializer();
  w.set_name("w");
  w.set_data_type(onnx::TensorProto::UINT8);
  for (const int64_t d : {1, 300, 1}) w.add_dims(d);
  for (int i = 0; i < 300; ++i) w.add_int32_data(i == 0 ? 254 : 255);
  m.node("Cast", {"x"}, {"q"}, {{"to", 2}}).node("ConvInteger", {"q", "w"}, {"sum"});
  m.ints("off", {299 * 255 * 255 + 254 * 255 - 1})
      .node("Cast", {"sum"}, {"wide"}, {{"to", kInt64}});
  m.node("Sub", {"wide", "off"}, {"y"});
  expect_near(output_of(m, {1, 300, 1}, Numbers(300, 255)), {1});
}

}  // namespace
}  // namespace enginery::test
