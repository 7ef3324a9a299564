// Passes with planted faults: the build refuses the engine, and names the first layer that
// diverges from the model as it was imported.
#include <random>

#include "tests/engine/compile/compile_support.h"

namespace enginery {
namespace {

using test::Build;
using test::ModelBuilder;

// The real list, with a wrong pass at its end.
std::string verdict(const ModelBuilder& model, Pass wrong) {
  std::vector<Pass> list = pass_list();
  list.push_back(wrong);
  const auto accuracy = Build(model, {.skip = {}, .dump = {}, .log = {}, .list = list}).verify();
  if (!accuracy.ok()) return "error: " + accuracy.error().message;
  EXPECT_EQ(accuracy->wrong.empty(), accuracy->worst_error <= accuracy->bar);
  return accuracy->wrong;
}

void expect_named(const std::string& verdict, const std::string& layer) {
  EXPECT_TRUE(test::contains(verdict, "the first layer that diverges is layer '" + layer + "'"))
      << verdict;
}

template <typename F>
Result<int> for_each_node(Graph& graph, F&& change) {
  int changed = 0;
  for (const NodeId id : graph.topological_order()) changed += change(id);
  return changed;
}

// As a pass would that only compares dims.
Result<int> drop_casts(Graph& graph) {
  return for_each_node(graph, [&](NodeId id) {
    const Node node = graph.node(id);
    if (!std::holds_alternative<Cast>(node.op)) return 0;
    graph.replace_uses(node.outputs[0], node.inputs[0]);
    graph.erase_node(id);
    return 1;
  });
}

// As a pass would that takes constants for one that have equal bytes, whatever their types.
Result<int> merge_equal_bytes(Graph& graph) {
  std::map<std::string, ValueId> seen;
  std::map<ValueId, ValueId> same;
  for (ValueId v = 0; v < graph.value_count(); ++v) {
    if (const Tensor* t = graph.constant(v))
      same[v] = seen.emplace(std::string(as_text(t->byte_span())), v).first->second;
  }
  return for_each_node(graph, [&](NodeId id) {
    int changed = 0;
    for (ValueId& v : graph.node(id).inputs) {
      const auto found = same.find(v);
      if (found == same.end() || found->second == v) continue;
      v = found->second;
      ++changed;
    }
    return changed;
  });
}

// As a pass would that folds a scale into the weights one channel further.
Result<int> shift_channels(Graph& graph) {
  return for_each_node(graph, [&](NodeId id) {
    if (!std::holds_alternative<Convolution>(graph.node(id).op)) return 0;
    const ValueId w = graph.node(id).inputs[1];
    Tensor weights = *graph.constant(w);
    const auto values = weights.mutable_data<float>();
    std::rotate(values.begin(), values.begin() + std::ssize(values) / weights.dims()[0],
                values.end());
    graph.node(id).inputs[1] = graph.add_constant("shifted", weights);
    return 1;
  });
}

std::vector<float> weights_of(size_t count) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, 0.3f);
  std::vector<float> out(count);
  for (float& v : out) v = normal(random);
  return out;
}

TEST(PlantedFaults, ADroppedCast) {
  ModelBuilder model;
  model.input("x", {1, 16}).node("Tanh", {"x"}, {"t"});
  model.node("Cast", {"t"}, {"whole"}, {{"to", 6}});
  model.node("Cast", {"whole"}, {"back"}, {{"to", test::kFloat}}).node("Mul", {"back", "x"}, {"p"});
  model.node("Relu", {"p"}, {"y"}).output("y");
  expect_named(verdict(model, {"drop_casts", drop_casts}), "Mul_4");
}

// 1.0f has the bytes of the int32 1065353216; the cast hides from the graph's own check that its
// input has another type now.
TEST(PlantedFaults, ConstantsOfOtherTypesMerged) {
  constexpr Pass kAlone[] = {{"merge_equal_bytes", merge_equal_bytes}};
  const Build build(test::loaded_from(R"(input %x : float32[2]
    %ones = constant float32[2] {1, 1}
    %big = constant int32[2] {1065353216, 1065353216}
    %s = binary(%x, %ones) kind=add
    %b = cast(%big) to=float32
    %y = binary(%s, %b) kind=mul
    output %y)",
                                      {.skip = {}, .dump = {}, .log = {}, .list = kAlone}));
  const auto accuracy = build.verify();
  ASSERT_TRUE(accuracy.ok()) << accuracy.error().message;
  expect_named(accuracy->wrong, "b");
}

TEST(PlantedFaults, AScaleOffByOneChannel) {
  ModelBuilder model;
  const std::vector<int64_t> same{1, 1, 1, 1};
  model.input("x", {1, 8, 12, 12}).weights("w1", {8, 8, 3, 3}, weights_of(576));
  model.weights("w2", {8, 8, 1, 1}, weights_of(64));
  model.node("Conv", {"x", "w1"}, {"a"}, {{"pads", same}}).node("Relu", {"a"}, {"b"});
  model.node("Conv", {"b", "w2"}, {"c"}).node("Add", {"c", "x"}, {"y"}).output("y");
  const auto second_only = [](Graph& graph) -> Result<int> {
    for (const NodeId id : graph.topological_order()) {
      if (graph.node(id).name != "Conv_3") continue;
      const ValueId w = graph.node(id).inputs[1];
      Tensor weights = *graph.constant(w);
      for (float& v : weights.mutable_data<float>().subspan(8, 8)) v *= 1.5f;
      graph.node(id).inputs[1] = graph.add_constant("scaled", weights);
      return 1;
    }
    return 0;
  };
  expect_named(verdict(model, {"scale", second_only}), "Conv_3");
  expect_named(verdict(model, {"shift_channels", shift_channels}), "Conv_1");
}

// A pass that is right renames values and makes new ones: none of them is accused.
TEST(PlantedFaults, NamesNoPassWhereNoneIsAtFault) {
  ModelBuilder model;
  model.input("x", {1, 4, 8, 8}).weights("w", {4, 4, 1, 1}, weights_of(16));
  model.weights("s", {4}, {1, 2, 3, 4}).weights("v", {4}, {1, 1, 2, 2});
  model.node("Conv", {"x", "w"}, {"a"});
  model.node("BatchNormalization", {"a", "s", "s", "s", "v"}, {"b"}).node("Relu", {"b"}, {"y"});
  model.output("y");
  Build build(model);
  // The engine of other weights, as a wrong kernel would be.
  for (NodeId id : build.network.graph.topological_order()) {
    auto& node = build.network.graph.node(id);
    if (!std::holds_alternative<Convolution>(node.op)) continue;
    for (float& v : build.network.graph.value(node.inputs[1]).constant->mutable_data<float>())
      v = -v;
  }
  const auto accuracy = build.verify();
  ASSERT_TRUE(accuracy.ok()) << accuracy.error().message;
  EXPECT_NE(accuracy->wrong, "");
  EXPECT_FALSE(test::contains(accuracy->wrong, "a pass changed")) << accuracy->wrong;
}

}  // namespace
}  // namespace enginery
