// Which nodes are meant by the names of layers.
#include "engine/compile/layers_meant.h"

#include "tests/engine/compile/compile_support.h"

namespace enginery {
namespace {

Graph graph_of(const std::vector<std::string>& names) {
  std::string text = "graph t {\n input %x : float32[4]\n";
  std::string last = "x";
  for (const std::string& name : names) {
    text += " %" + name + " = act(%" + last + ") kind=relu\n";
    last = name;
  }
  auto graph = parse_graph(text + " output %" + last + "\n}");
  EXPECT_TRUE(graph.ok()) << graph.error().message;
  return std::move(*graph);
}

// "name:precision " of the nodes that are meant, or the refusal.
std::string meant(const std::string& asked) {
  const Graph imported = graph_of({"conv1", "norm1", "conv2"});
  const Graph graph = graph_of({"conv1", "conv2"});
  const auto found = layers_meant(graph, imported, *parse_layer_precisions(asked));
  if (!found.ok()) return found.error().message;
  std::string out;
  for (const auto& [id, precision] : *found)
    out += graph.node(id).name + ":" + std::string(to_string(precision)) + " ";
  return out;
}

TEST(LayersMeant, AreThoseOfTheNames) {
  EXPECT_EQ(meant(""), "");
  EXPECT_EQ(meant("conv2:fp16"), "conv2:fp16 ");
  EXPECT_EQ(meant("conv*:bf16,conv1:fp32"), "conv1:fp32 conv2:bf16 ");
}

TEST(LayersMeant, RefusesANameThatNothingHasWithTheNearest) {
  EXPECT_NE(meant("conv3:fp16").find("no layer has the name 'conv3'; did you mean conv1 or conv2?"),
            std::string::npos)
      << meant("conv3:fp16");
  EXPECT_NE(meant("x*:fp16").find("no layer has the name 'x*'"), std::string::npos);
}

TEST(LayersMeant, RefusesALayerThatPassesMergedIntoOthers) {
  EXPECT_NE(meant("norm1:fp16").find("'norm1' is merged into other layers"), std::string::npos)
      << meant("norm1:fp16");
}

// What a layer may compute in, of a model whose two products are equal problems.
std::set<Precision> computes_in(const std::string& layer, const std::string& asked) {
  test::ModelBuilder source;
  source.input("x", {64, 64}).weights("w", {64, 64}, std::vector<float>(64 * 64, 0.5f));
  source.node("MatMul", {"x", "w"}, {"a"}).node("MatMul", {"a", "w"}, {"b"}).output("b");
  BuildOptions options;
  options.provisional = true;
  options.precisions = {Precision::fp32, Precision::fp16};
  options.layer_precisions = *parse_layer_precisions(asked);
  const auto model = load_model(source.source(), "net", options);
  const auto target = open_target("h200", options);
  EXPECT_TRUE(model.ok() && target.ok()) << (model.ok() ? "" : model.error().message);
  if (!model.ok() || !target.ok()) return {};
  const auto network = lower_model(*model, *target, options);
  EXPECT_TRUE(network.ok());
  std::set<Precision> out;
  for (const NetworkNode& node : network->nodes) {
    for (const Tactic& tactic : node.tactics)
      if (node.name == layer && tactic.trust != Trust::reference) out.insert(tactic.compute);
  }
  return out;
}

TEST(LayersMeant, AreOfferedNothingElse) {
  BuildOptions provisional;
  provisional.provisional = true;
  const auto target = open_target("h200", provisional);
  if (!target.ok()) GTEST_SKIP() << "a build without GPUs: " << target.error().message;
  const std::set both{Precision::fp32, Precision::fp16};
  EXPECT_EQ(computes_in("MatMul_1", ""), both);
  EXPECT_EQ(computes_in("MatMul_1", "MatMul_1:fp32"), std::set{Precision::fp32});
  EXPECT_EQ(computes_in("MatMul_2", "MatMul_1:fp32"), both);
  EXPECT_EQ(computes_in("MatMul_2", "MatMul_2:tf32"), (std::set{Precision::fp32, Precision::tf32}));
}

TEST(StructureWith, KnowsPlacesAndPrecisionsAndNoNames) {
  const Digest structure = sha256("structure");
  const auto with = [&](const Graph& graph, const std::string& asked) {
    const auto found = layers_meant(graph, graph, *parse_layer_precisions(asked));
    return structure_with(structure, graph, *found).text();
  };
  const Graph graph = graph_of({"a", "b"});
  EXPECT_EQ(with(graph, ""), structure.text());
  EXPECT_NE(with(graph, "a:fp32"), structure.text());
  EXPECT_NE(with(graph, "a:fp32"), with(graph, "b:fp32"));
  EXPECT_NE(with(graph, "a:fp32"), with(graph, "a:fp16"));
  EXPECT_EQ(with(graph, "a:fp32"), with(graph_of({"c", "d"}), "c:fp32"));
}

}  // namespace
}  // namespace enginery
