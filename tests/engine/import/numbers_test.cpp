// Forms of operators that decide numbers: what zeros give, which type statistics have, and that
// nothing of a float64 graph is held in a float32 on its way.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include "tests/engine/import/model_builder.h"
#include "tests/support/reference_executor.h"

namespace enginery::test {
namespace {

constexpr int kFloat16 = 10, kDouble = 11;  // TensorProto.DataType

using Outputs = std::map<std::string, Tensor>;

Outputs outputs_of(const ModelBuilder& model, const Tensor& x) {
  auto imported = model.import();
  if (!imported.ok()) {
    ADD_FAILURE() << imported.error().message;
    return {};
  }
  auto outputs = run_graph(imported->graph, {{"x", x}});
  if (!outputs.ok()) {
    ADD_FAILURE() << outputs.error().message;
    return {};
  }
  return *outputs;
}

std::vector<double> doubles_of(const Tensor& t) {
  const Tensor wide = convert(t, DataType::float64);
  return {wide.data<double>().begin(), wide.data<double>().end()};
}

void add_double(ModelBuilder& m, const std::string& name, double value) {
  onnx::TensorProto& t = *m.graph().add_initializer();
  t.set_name(name);
  t.set_data_type(kDouble);
  t.add_double_data(value);
}

TEST(ImportedNumbers, NormalisingZerosGivesZeros) {
  for (const int p : {1, 2}) {
    ModelBuilder m;
    m.input("x", {2, 2}).output("y");
    m.node("LpNormalization", {"x"}, {"y"}, {{"p", p}, {"axis", 1}});
    const Tensor y = outputs_of(m, Tensor::of<float>({2, 2}, {0, 0, 0, 5})).at("y");
    EXPECT_EQ(doubles_of(y), (std::vector<double>{0, 0, 0, 1})) << p;
  }
}

TEST(ImportedNumbers, QuantisingZerosHasAScaleOfOne) {
  ModelBuilder m;
  m.input("x", {2}).output("y").output("scale").output("zero");
  m.node("DynamicQuantizeLinear", {"x"}, {"y", "scale", "zero"});
  const Outputs zeros = outputs_of(m, Tensor::of<float>({2}, {0, 0}));
  EXPECT_EQ(doubles_of(zeros.at("scale")), (std::vector<double>{1}));
  EXPECT_EQ(doubles_of(zeros.at("y")), (std::vector<double>{0, 0}));
  EXPECT_EQ(doubles_of(zeros.at("zero")), (std::vector<double>{0}));
  const Outputs others = outputs_of(m, Tensor::of<float>({2}, {0, 255}));
  EXPECT_EQ(doubles_of(others.at("scale")), (std::vector<double>{1}));
  EXPECT_EQ(doubles_of(others.at("y")), (std::vector<double>{0, 255}));
}

ModelBuilder layer_norm(int type, const std::vector<Attr>& attributes) {
  ModelBuilder m(17);
  m.input("x", {1, 2}, type).weights("wide", {2}, {1, 1}).output("y").output("mean").output("inv");
  m.node("Cast", {"wide"}, {"s"}, {{"to", type}});
  m.node("LayerNormalization", {"x", "s", ""}, {"y", "mean", "inv"}, attributes);
  return m;
}

TEST(ImportedNumbers, LayerNormalisationStatisticsHaveTheStashType) {
  // Their mean, 2049, is no float16.
  const Tensor x = convert(Tensor::of<float>({1, 2}, {2048, 2050}), DataType::float16);
  const Outputs wide = outputs_of(layer_norm(kFloat16, {}), x);
  EXPECT_EQ(wide.at("y").type(), DataType::float16);
  EXPECT_EQ(wide.at("mean").type(), DataType::float32);
  EXPECT_EQ(wide.at("inv").type(), DataType::float32);
  EXPECT_EQ(doubles_of(wide.at("mean")), (std::vector<double>{2049}));
  const Outputs narrow = outputs_of(layer_norm(kFloat16, {{"stash_type", kFloat16}}), x);
  EXPECT_EQ(narrow.at("mean").type(), DataType::float16);
  const Tensor d = Tensor::of<double>({1, 2}, {1, 1 + 0x1p-39});
  EXPECT_EQ(doubles_of(outputs_of(layer_norm(kDouble, {}), d).at("mean")),
            (std::vector<double>{1 + 0x1p-40}));
}

TEST(ImportedNumbers, BoundsOfADoubleClipAreDoubles) {
  ModelBuilder m;
  m.input("x", {2}, kDouble).output("y");
  add_double(m, "low", 0.1);
  add_double(m, "high", 0.3);
  m.node("Clip", {"x", "low", "high"}, {"y"});
  const Tensor y = outputs_of(m, Tensor::of<double>({2}, {0, 1})).at("y");
  EXPECT_EQ(doubles_of(y), (std::vector<double>{0.1, 0.3}));
}

TEST(ImportedNumbers, RangesOfDoublesHaveTheirOwnLength) {
  ModelBuilder m;
  m.input("x", {3}, kDouble).output("y");
  add_double(m, "start", 0);
  add_double(m, "limit", 0.3);
  add_double(m, "delta", 0.1);
  m.node("Range", {"start", "limit", "delta"}, {"r"}).node("Add", {"x", "r"}, {"y"});
  const Tensor y = outputs_of(m, Tensor::of<double>({3}, {0, 0, 0})).at("y");
  EXPECT_EQ(doubles_of(y), (std::vector<double>{0, 0.1, 0.2}));
}

TEST(ImportedNumbers, FilledTensorsHoldEveryNumberOfTheirType) {
  ModelBuilder m;
  m.input("x", {2}, kDouble).output("y").ints("shape", {2});
  onnx::TensorProto value;
  value.set_data_type(kDouble);
  value.add_dims(1);
  value.add_double_data(0.1);
  m.node("ConstantOfShape", {"shape"}, {"c"}, {{"value", value}});
  m.node("Add", {"x", "c"}, {"y"});
  const Tensor y = outputs_of(m, Tensor::of<double>({2}, {0, 0})).at("y");
  EXPECT_EQ(doubles_of(y), (std::vector<double>{0.1, 0.1}));
}

}  // namespace
}  // namespace enginery::test
