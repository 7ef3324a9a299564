// Which nodes are meant by the names of layers.
#include "engine/compile/layers_meant.h"

#include "engine/tactics/shapes/quantized_product.h"
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

// "name " of the layers that a place stands for, in a graph of two branches that are added and a
// product behind them.
std::string names_of_place(std::string_view place) {
  const auto graph = parse_graph(
      "graph t {\n input %x : float32[4x4]\n input %y : float32[4x4]\n"
      " %w = constant float32[4x4] random(1)\n"
      " %r = act(%x) kind=relu\n %a = matmul(%r, %w)\n %b = matmul(%y, %w)\n"
      " %s = binary(%a, %b) kind=add\n %c = matmul(%s, %w)\n %d = matmul(%c, %w)\n"
      " %e = matmul(%c, %w)\n %f = act(%e) kind=relu\n output %d\n output %f\n}");
  EXPECT_TRUE(graph.ok()) << graph.error().message;
  std::set<std::string> names;
  for (const LayerPrecision& one :
       with_names({{std::string(place), Precision::fp32}, {"c", Precision::fp16}}, *graph)) {
    EXPECT_EQ(one.precision, one.layer == "c" ? Precision::fp16 : Precision::fp32);
    names.insert(one.layer);
  }
  std::string out;
  for (const std::string& name : names) out += name + " ";
  return out;
}

TEST(LayersMeant, TheFirstProductsAreThoseBehindNoOtherAndTheLastThoseBeforeNone) {
  EXPECT_EQ(names_of_place("@first"), "a b c ");
  EXPECT_EQ(names_of_place("@last"), "c d e ");
  EXPECT_NE(meant("@first:fp32").find("for @first or @last"), std::string::npos);
}

// Two products in 8 bits by scales, with what is asked of layers.
Result<LoadedModel> two_in_eight_bits(const std::string& asked) {
  test::ModelBuilder source;
  source.input("x", {64, 64}).weights("w", {64, 64}, std::vector<float>(64 * 64, 0.5f));
  source.node("MatMul", {"x", "w"}, {"a"}).node("MatMul", {"a", "w"}, {"b"}).output("b");
  BuildOptions options = test::one_thread();
  options.precisions = {Precision::fp32, Precision::int8};
  options.layer_precisions = *parse_layer_precisions(asked);
  const TensorScales scales{{{"x", 0.1f}, {"a", 0.1f}}};
  return load_model(source.source(), "net", options, {}, &scales);
}

size_t quantized_tensors(const std::string& asked) {
  const auto model = two_in_eight_bits(asked);
  EXPECT_TRUE(model.ok()) << model.error().message;
  size_t out = 0;
  for (const NodeId id : model->imported.needed_order())
    out += std::holds_alternative<Quantize>(model->imported.node(id).op);
  return out;
}

TEST(LayersMeant, InFloatAreNotQuantized) {
  EXPECT_EQ(quantized_tensors(""), 2u);
  EXPECT_EQ(quantized_tensors("MatMul_1:fp32"), 1u);
  EXPECT_EQ(quantized_tensors("@last:fp16"), 1u);
  EXPECT_EQ(quantized_tensors("*:fp32"), 0u);
  EXPECT_EQ(quantized_tensors("*:fp32,MatMul_2:int8"), 1u);
}

// The products of a model that is quantised itself which may run in integers.
size_t products_in_integers(const Target& target, const std::string& asked) {
  const auto model = two_in_eight_bits("");
  EXPECT_TRUE(model.ok()) << model.error().message;
  const auto meant = layers_meant(model->graph, model->imported, *parse_layer_precisions(asked));
  EXPECT_TRUE(meant.ok()) << meant.error().message;
  const auto network =
      lower(model->graph, target.sources, {Precision::fp32, Precision::int8}, *meant);
  EXPECT_TRUE(network.ok()) << network.error().message;
  std::set<std::string> out;
  for (const Alternative& alternative : network->alternatives) {
    for (const NetworkNode& node : alternative.instead) {
      if (!quantized_product(node.problem).ok()) continue;
      for (const char* product : {"MatMul_1", "MatMul_2"})
        if (node.name.find(product) != std::string::npos) out.insert(product);
    }
  }
  return out.size();
}

TEST(LayersMeant, InFloatRunInNoIntegersOfTheModelsOwn) {
  BuildOptions provisional;
  provisional.provisional = true;
  const auto target = open_target("h200", provisional);
  if (!target.ok()) GTEST_SKIP() << "a build without GPUs: " << target.error().message;
  EXPECT_EQ(products_in_integers(*target, ""), 2u);
  EXPECT_EQ(products_in_integers(*target, "MatMul_1:fp32"), 1u);
  EXPECT_EQ(products_in_integers(*target, "M*:fp16"), 0u);
  EXPECT_EQ(products_in_integers(*target, "*:int8"), 2u);
}

TEST(LayersMeant, InInt8NeedScales) {
  test::ModelBuilder source;
  source.input("x", {2, 2}).weights("w", {2, 2}, {1, 2, 3, 4});
  source.node("MatMul", {"x", "w"}, {"a"}).output("a");
  BuildOptions options = test::one_thread();
  options.layer_precisions = *parse_layer_precisions("*:int8");
  const auto refused = load_model(source.source(), "net", options);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("int8 needs scales"), std::string::npos);
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
