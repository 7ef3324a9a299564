// Where an engine's result goes wrong: its layers, as they ran, against the model's values.
#include "engine/compile/first_divergence.h"

#include <random>

#include "engine/graph/made_up_inputs.h"
#include "tests/engine/compile/compile_support.h"

namespace enginery {
namespace {

using test::Build;
using test::ModelBuilder;

std::vector<float> normal_weights(size_t count) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal(0, 0.3f);
  std::vector<float> out(count);
  for (float& v : out) v = normal(random);
  return out;
}

// Three convolutions in a row, reshaped at the end: a view, which nothing launches.
ModelBuilder three_convolutions() {
  ModelBuilder model;
  model.input("x", {1, 8, 6, 6}).ints("flat", {1, -1});
  for (const char* w : {"w1", "w2", "w3"}) model.weights(w, {8, 8, 1, 1}, normal_weights(64));
  model.node("Conv", {"x", "w1"}, {"a"}).node("Tanh", {"a"}, {"b"});
  model.node("Conv", {"b", "w2"}, {"c"}).node("Tanh", {"c"}, {"d"});
  model.node("Conv", {"d", "w3"}, {"e"}).node("Reshape", {"e", "flat"}, {"y"}).output("y");
  return model;
}

struct Traces {
  RunTrace expected, actual;
};

Traces traces_of(const Build& build) {
  const std::vector<Tensor> inputs = made_up_inputs(build.model.imported, 3);
  auto expected = trace_graph(build.model.imported, inputs);
  auto engine = read_unsigned_engine(build.content());
  EXPECT_TRUE(expected.ok() && engine.ok());
  auto actual = trace_engine(std::move(engine->plan), build.target, inputs);
  EXPECT_TRUE(actual.ok()) << actual.error().message;
  return {std::move(*expected), std::move(*actual)};
}

TEST(FirstDivergence, IsNoneOfAnEngineThatIsRight) {
  const Traces traces = traces_of(Build(three_convolutions()));
  EXPECT_FALSE(first_divergence(traces.expected, traces.actual, 1e-3));
  for (const TracedLayer& layer : traces.actual.layers) {
    for (const size_t v : layer.outputs)
      EXPECT_FALSE(traces.actual.values[v].samples.empty()) << layer.name;
  }
}

TEST(FirstDivergence, NamesTheEnginesLayerThatComputesSomethingElse) {
  Build build{three_convolutions()};
  int at = 0;
  for (const NodeId id : build.network.graph.topological_order()) {
    const Node& node = build.network.graph.node(id);
    if (!std::holds_alternative<Convolution>(node.op) || ++at != 2) continue;
    build.network.graph.value(node.inputs[1]).constant->mutable_data<float>()[0] += 1;
  }
  ASSERT_EQ(at, 3);
  const Traces traces = traces_of(build);
  const auto first = first_divergence(traces.expected, traces.actual, 1e-3);
  ASSERT_TRUE(first);
  EXPECT_TRUE(first->layer.starts_with("Conv_3+")) << to_string(*first);
  EXPECT_GT(first->error, 1e-3);
  EXPECT_LT(first->error, 10);
}

TEST(FirstDivergence, OfEmptyOutputsIsNone) {
  const TracedValue empty{"e", {DataType::float32, {0, 4}}, {}, true};
  const RunTrace trace{{empty}, {{"nothing", "slice", {}, {0}}}, {0}};
  EXPECT_FALSE(first_divergence(trace, trace, 1e-3));
}

TracedValue floats(const std::string& name, std::vector<double> samples) {
  return {name, {DataType::float32, {2}}, std::move(samples), true};
}

// x -> product -> y in floats.
RunTrace float_run() {
  TracedValue x = floats("x", {1, 2});
  x.computed = false;
  return {{x, floats("y", {10, -20})}, {{"product", "matmul", {0}, {1}}}, {1}};
}

// x -> first -> q, 8-bit -> back -> d -> product -> y.
RunTrace quantized_run(std::vector<double> d, std::vector<double> y) {
  RunTrace run = float_run();
  run.values[1].samples = std::move(y);
  run.values.push_back({"q", {DataType::int8, {2}}, {64, 127}, true});
  run.values.push_back(floats("d", std::move(d)));
  run.layers = {{"first", "quantize", {0}, {2}},
                {"back", "dequantize", {2}, {3}},
                {"product", "matmul", {3}, {1}}};
  return run;
}

TEST(FirstDivergence, LooksThroughEightBitNumbersBesideFloats) {
  const auto is_wrong_behind =
      first_divergence(float_run(), quantized_run({1.01, 2}, {15, -20}), 0.05);
  ASSERT_TRUE(is_wrong_behind);
  EXPECT_EQ(to_string(*is_wrong_behind), "layer 'product' (matmul)");
  EXPECT_DOUBLE_EQ(is_wrong_behind->error, 0.25);

  const auto is_wrong_before =
      first_divergence(float_run(), quantized_run({1.5, 2}, {15, -20}), 0.05);
  ASSERT_TRUE(is_wrong_before);
  EXPECT_EQ(to_string(*is_wrong_before), "layer 'back' (dequantize)");
  EXPECT_DOUBLE_EQ(is_wrong_before->error, 0.25);

  EXPECT_FALSE(first_divergence(float_run(), quantized_run({1.01, 2}, {10.5, -20}), 0.05));
}

// What is wrong ahead of 8-bit numbers is found through them.
TEST(FirstDivergence, KeepsTheInputsOfWhatItLooksThroughSuspect) {
  RunTrace expected = float_run();
  expected.values.push_back(floats("a", {3, 4}));
  expected.layers.insert(expected.layers.begin(), {"ahead", "act", {0}, {2}});
  expected.layers[1].inputs = {2};
  RunTrace actual = quantized_run({3, 8}, {15, -20});
  actual.values.push_back(floats("a", {3, 8}));
  actual.layers[0].inputs = {4};
  actual.layers.insert(actual.layers.begin(), {"ahead", "act", {0}, {4}});
  const auto first = first_divergence(expected, actual, 0.05);
  ASSERT_TRUE(first);
  EXPECT_EQ(to_string(*first), "layer 'ahead' (act)");
}

TEST(FirstDivergence, JudgesAnOutputOfAnotherTypeByItsNumbers) {
  RunTrace actual = float_run();
  actual.values[1] = {"y", {DataType::int8, {2}}, {10, -20}, true};
  EXPECT_FALSE(first_divergence(float_run(), actual, 0.05));
  actual.values[1].samples = {15, -20};
  const auto first = first_divergence(float_run(), actual, 0.05);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->layer, "product");
  EXPECT_DOUBLE_EQ(first->error, 0.25);
}

// Weights are constants of the float model and layers' results in a quantised one.
TEST(FirstDivergence, TakesRestoredWeightsForTheModelsConstants) {
  RunTrace expected = float_run();
  expected.values.push_back({"w", {DataType::float32, {2}}, {5, 6}, false, true});
  RunTrace actual = float_run();
  actual.values[1].samples = {15, -20};
  actual.values.push_back({"w_q", {DataType::int8, {2}}, {100, 120}, false, true});
  actual.values.push_back(floats("w_d", {5.01, 6}));
  actual.layers = {{"weights", "dequantize", {2}, {3}}, {"product", "matmul", {0, 3}, {1}}};
  const auto first = first_divergence(expected, actual, 0.05);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->layer, "product");
}

TEST(FirstDivergence, HoldsFloatsOfAnyWidthAgainstEachOther) {
  RunTrace actual = quantized_run({1.5, 2}, {15, -20});
  actual.values[3].type.type = DataType::float16;
  const auto first = first_divergence(float_run(), actual, 0.05);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->layer, "back");
}

}  // namespace
}  // namespace enginery
