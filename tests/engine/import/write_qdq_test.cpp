// A model with its scales written into it: what is quantised, what stays in float, and that its own
// importer reads it as the same network but for the rounding.
#include "engine/import/onnx/write_qdq.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <cmath>

#include "engine/graph/run_graph.h"
#include "tests/engine/import/model_builder.h"

namespace enginery {
namespace {

using test::contains;
using test::ModelBuilder;

onnx::ModelProto parsed(const QuantizedModel& model) {
  onnx::ModelProto out;
  EXPECT_TRUE(out.ParseFromString(model.bytes));
  return out;
}

int nodes_of(const onnx::ModelProto& model, const std::string& op) {
  int count = 0;
  for (const auto& node : model.graph().node()) count += node.op_type() == op;
  return count;
}

const onnx::TensorProto* tensor_named(const onnx::ModelProto& model, const std::string& name) {
  for (const auto& tensor : model.graph().initializer()) {
    if (tensor.name() == name) return &tensor;
  }
  return nullptr;
}

// x [2,3] times w [3,2], plus itself through a second product with the same weights.
ModelBuilder two_products() {
  ModelBuilder model;
  model.input("x", {2, 3}).weights("w", {3, 2}, {1, 100, -2, 50, 0.5f, -25});
  model.node("MatMul", {"x", "w"}, {"y"}).node("MatMul", {"x", "w"}, {"z"});
  model.node("Add", {"y", "z"}, {"sum"}).output("sum");
  return model;
}

// Both products of it read x so.
QdqPlaces x_with(ActivationScale scale) {
  return {{{"x", scale}}, {{"y", "x"}, {"z", "x"}}};
}

TEST(WriteQdq, QuantisesATensorAndItsWeightsOnceForAllReaders) {
  const auto made = write_qdq(two_products().source(), x_with({0.5f}));
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_EQ(made->nodes, 2);
  EXPECT_TRUE(made->notes.empty());
  const onnx::ModelProto model = parsed(*made);
  EXPECT_EQ(nodes_of(model, "QuantizeLinear"), 1);
  EXPECT_EQ(nodes_of(model, "DequantizeLinear"), 2);
  EXPECT_EQ(tensor_named(model, "w"), nullptr) << "nothing reads the float weights";
}

TEST(WriteQdq, WeightsHaveAScaleForEachOutputChannel) {
  const auto made = write_qdq(two_products().source(), x_with({0.5f}));
  ASSERT_TRUE(made.ok()) << made.error().message;
  const onnx::ModelProto model = parsed(*made);
  const onnx::TensorProto* scale = tensor_named(model, "w_scale");
  const onnx::TensorProto* elements = tensor_named(model, "w_quantized");
  ASSERT_TRUE(scale && elements);
  float scales[2];
  ASSERT_EQ(scale->raw_data().size(), sizeof scales);
  std::memcpy(scales, scale->raw_data().data(), sizeof scales);
  EXPECT_EQ(scales[0], 2.0f / 127);
  EXPECT_EQ(scales[1], 100.0f / 127);
  // 63.5 and 31.75 round to 64 and 32; 127 * -25 / 100 = -31.75.
  const std::string expected{64, 127, -127, 64, 32, -32};
  EXPECT_EQ(elements->raw_data(), expected);
}

// The result of the model on x, by the references.
std::vector<float> quantised_result_of(const ModelSource& source, const Tensor& x) {
  const auto imported = import_model(source);
  EXPECT_TRUE(imported.ok()) << imported.error().message;
  const auto outputs = run_graph(imported->graph, {{"x", x}});
  EXPECT_TRUE(outputs.ok()) << outputs.error().message;
  const auto values = outputs->begin()->second.data<float>();
  return {values.begin(), values.end()};
}

TEST(WriteQdq, GivesTheSameButForTheRounding) {
  const ModelBuilder model = test::small_convolution();
  const Tensor x = [] {
    Tensor out(DataType::float32, {1, 2, 4, 4});
    for (int64_t i = 0; i < 32; ++i)
      out.mutable_data<float>()[static_cast<size_t>(i)] = std::sin(static_cast<float>(i));
    return out;
  }();
  const auto made = write_qdq(model.source(), {{{"x", {1.0f / 127}}}, {{"c", "x"}}});
  ASSERT_TRUE(made.ok()) << made.error().message;
  const auto exact = quantised_result_of(model.source(), x);
  const auto rounded = quantised_result_of({"q.onnx", made->bytes, std::nullopt}, x);
  ASSERT_EQ(exact.size(), rounded.size());
  double error = 0, largest = 0;
  for (size_t i = 0; i < exact.size(); ++i) {
    error = std::max(error, std::abs(double{exact[i]} - rounded[i]));
    largest = std::max(largest, std::abs(double{exact[i]}));
  }
  EXPECT_GT(error, 0) << "nothing was quantised";
  EXPECT_LT(error, 0.03 * largest);
}

// Who multiplies them as they are decides later.
TEST(WriteQdq, ItsWeightsAreImportedAsIntegers) {
  const auto made = write_qdq(two_products().source(), x_with({0.5f}));
  ASSERT_TRUE(made.ok()) << made.error().message;
  const auto imported = import_model({"q.onnx", made->bytes, std::nullopt});
  ASSERT_TRUE(imported.ok()) << imported.error().message;
  const Graph& graph = imported->graph;
  int of_constants = 0;
  for (const NodeId id : graph.topological_order()) {
    const Node& node = graph.node(id);
    of_constants += std::holds_alternative<Dequantize>(node.op) && graph.constant(node.inputs[0]);
  }
  EXPECT_EQ(of_constants, 1);
}

TEST(WriteQdq, WhatIsNeverNegativeHasUint8AndHalfTheStep) {
  const auto made = write_qdq(two_products().source(), x_with({2.55f, true}));
  ASSERT_TRUE(made.ok()) << made.error().message;
  const onnx::ModelProto model = parsed(*made);
  const onnx::TensorProto* zero = tensor_named(model, "x_zero_point");
  const onnx::TensorProto* scale = tensor_named(model, "x_scale");
  ASSERT_TRUE(zero && scale);
  EXPECT_EQ(zero->data_type(), onnx::TensorProto::UINT8);
  float value = 0;
  std::memcpy(&value, scale->raw_data().data(), sizeof value);
  EXPECT_FLOAT_EQ(value, 1.27f);
  // The largest magnitude of int8, 127 * 2.55, is there and nothing above it.
  const Tensor x = Tensor::of<float>({2, 3}, {323.85f, 0, 0, 1000, 0, 0});
  const auto y = quantised_result_of({"q.onnx", made->bytes, std::nullopt}, x);
  EXPECT_NEAR(y[1], 2 * 100 * 323.85, 1);
  EXPECT_EQ(y[3], y[1]);
}

TEST(WriteQdq, SaysWhatStaysInFloat) {
  ModelBuilder model = two_products();
  model.node("Neg", {"w"}, {"v"}).node("MatMul", {"x", "v"}, {"more"}).output("more");
  QdqPlaces places = x_with({1.0f});
  places.reads.insert({"more", "x"});
  places.reads.insert({"inner", "x"});
  const auto made = write_qdq(model.source(), places);
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_EQ(made->nodes, 2);
  ASSERT_EQ(made->notes.size(), 2u);
  EXPECT_TRUE(contains(made->notes[0], "its weights are no float32 tensor of the file"))
      << made->notes[0];
  EXPECT_TRUE(contains(made->notes[1], "in bodies of functions or branches, 1 tensors"))
      << made->notes[1];
  EXPECT_NE(tensor_named(parsed(*made), "w"), nullptr) << "the negation reads it";
}

// What is no product has no weights: only what it is said to read changes.
TEST(WriteQdq, WritesPairsBeforeSumsToo) {
  QdqPlaces places = x_with({1.0f});
  places.tensors["y"] = {2.0f};
  places.reads.insert({"sum", "y"});
  const auto made = write_qdq(two_products().source(), places);
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_EQ(made->nodes, 2);
  const onnx::ModelProto model = parsed(*made);
  EXPECT_EQ(nodes_of(model, "QuantizeLinear"), 2);
  const auto& sum = model.graph().node(model.graph().node_size() - 1);
  ASSERT_EQ(sum.op_type(), "Add");
  EXPECT_EQ(sum.input(0), "y_dequantized");
  EXPECT_EQ(sum.input(1), "z");
}

TEST(WriteQdq, RefusesWhatItCannotWrite) {
  const auto nothing = write_qdq(two_products().source(), {});
  ASSERT_FALSE(nothing.ok());
  EXPECT_EQ(nothing.error().code, ErrorCode::unsupported);
  ModelBuilder old(11);
  old.input("x", {2, 3}).weights("w", {3, 1}, {1, 2, 3}).node("MatMul", {"x", "w"}, {"y"});
  old.output("y");
  EXPECT_TRUE(check_qdq(two_products().source()).ok());
  const Status asked = check_qdq(old.source());
  ASSERT_FALSE(asked.ok());
  EXPECT_EQ(asked.error().code, ErrorCode::unsupported);
  const auto early = write_qdq(old.source(), x_with({1.0f}));
  ASSERT_FALSE(early.ok());
  EXPECT_TRUE(contains(early.error().message, "operator set 11")) << early.error().message;
}

}  // namespace
}  // namespace enginery
