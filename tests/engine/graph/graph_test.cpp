#include "engine/graph/graph.h"

#include <gtest/gtest.h>

#include "engine/graph/run_graph.h"
#include "engine/graph/text.h"

namespace enginery {
namespace {

constexpr char kSmall[] = R"(
graph small {
  input %x : float32[Nx3x8x8]
  %w = constant float32[4x3x3x3] random(7)
  %b = constant float32[4] {1, 2, -3, 0.5}
  %c = conv(%x, %w, %b) strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] groups=1
  %r = act(%c) kind=relu group=0
  output %r
})";

Graph parse(std::string_view text) {
  auto graph = parse_graph(text);
  EXPECT_TRUE(graph) << (graph ? "" : graph.error().message);
  return graph ? *graph : Graph();
}

TEST(GraphText, RoundTripsThroughItsOwnPrinting) {
  std::string text = R"(graph g {
  input %x : float32[Nx4]
  %s = constant float32[4] {1, 2.5, -3, inf}
  %y = binary(%x, %s) kind=mul
  %z = act(%y) kind=clip alpha=0 beta=6 group=3
  output %z
})";
  std::string once = to_text(parse(text));
  EXPECT_EQ(to_text(parse(once)), once);
  EXPECT_NE(once.find("group=3"), std::string::npos);
  EXPECT_NE(once.find("float32[Nx4]"), std::string::npos);
}

TEST(GraphText, NamesTheLineOfAMistake) {
  auto bad = parse_graph("graph g {\n  input %x : float32[2]\n  %y = act(%nope) kind=relu\n}");
  ASSERT_FALSE(bad);
  EXPECT_NE(bad.error().message.find("line 3"), std::string::npos) << bad.error().message;
  EXPECT_FALSE(parse_graph("graph g { %y = nonsense() }"));
  EXPECT_FALSE(parse_graph("graph g { input %x : float32[2]"));
}

TEST(Graph, InfersTypesAndKeepsSymbols) {
  Graph g = parse(kSmall);
  EXPECT_TRUE(verify(g));
  const Dims& dims = g.value(g.outputs()[0]).type.dims;
  ASSERT_EQ(dims.size(), 4u);
  EXPECT_EQ(dims[0], g.symbol_size("N"));
  EXPECT_EQ(dims[1], 4);
}

TEST(Graph, MakesNamesUnique) {
  Graph g;
  ValueId a = g.add_input("x", {DataType::float32, {2}});
  auto b = g.add_node("x", Activation{}, {a});
  ASSERT_TRUE(b);
  EXPECT_NE(g.value(a).name, g.value((*b)[0]).name);
}

TEST(Verify, FindsACycle) {
  Graph g = parse(
      "graph g { input %x : float32[2]\n %a = act(%x) kind=relu\n %b = act(%a) kind=relu\n output "
      "%b }");
  g.node(0).inputs[0] = g.node(1).outputs[0];
  auto status = verify(g);
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("cycle"), std::string::npos);
}

TEST(Verify, FindsATypeThatItsRuleDoesNotGive) {
  Graph g = parse(kSmall);
  g.value(g.node(0).outputs[0]).type.dims[1] = 5;
  auto status = verify(g);
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("'c'"), std::string::npos) << status.error().message;
}

TEST(Specialize, BindsEverySymbolAndSaysWhatItAssumed) {
  Graph g = parse(kSmall);
  auto one = specialize(g, {});
  ASSERT_TRUE(one);
  EXPECT_EQ(one->defaulted, std::vector<std::string>{"x: N = 1"});
  auto eight = specialize(g, {{"x", {8, 3, 16, 16}}});
  ASSERT_TRUE(eight);
  EXPECT_TRUE(eight->defaulted.empty());
  EXPECT_EQ(eight->graph.value(eight->graph.outputs()[0]).type.dims, (Dims{8, 4, 16, 16}));
  EXPECT_TRUE(verify(eight->graph));
}

TEST(Specialize, NamesTheNodeThatASizeContradicts) {
  auto bad = specialize(parse(kSmall), {{"x", {1, 5, 8, 8}}});
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(bad.error().message.find("'c'"), std::string::npos) << bad.error().message;
  EXPECT_FALSE(specialize(parse(kSmall), {{"y", {1}}}));
  EXPECT_FALSE(specialize(parse(kSmall), {{"x", {1, 3, 8}}}));
}

TEST(Specialize, RefusesOneSymbolWithTwoSizes) {
  Graph g = parse(
      "graph g { input %a : float32[N]\n input %b : float32[N]\n %c = binary(%a, %b) kind=add\n "
      "output %c }");
  EXPECT_TRUE(specialize(g, {{"a", {3}}, {"b", {3}}}));
  EXPECT_FALSE(specialize(g, {{"a", {3}}, {"b", {4}}}));
}

TEST(Fingerprint, StructureIgnoresWeightsAndNamesButNotShapes) {
  Graph a = parse(kSmall);
  std::string other(kSmall);
  other.replace(other.find("random(7)"), 9, "random(8)");
  Graph b = parse(other);
  for (size_t at; (at = other.find("%r")) != std::string::npos;) other.replace(at, 2, "%q");
  Graph c = parse(other);
  EXPECT_EQ(structure_fingerprint(a), structure_fingerprint(b));
  EXPECT_NE(fingerprint(a), fingerprint(b));
  EXPECT_EQ(fingerprint(b), fingerprint(c));
  EXPECT_NE(structure_fingerprint(a), structure_fingerprint(specialize(a, {})->graph));
}

TEST(RunGraph, ComputesAndNamesTheFailingInput) {
  Graph g = parse("graph g { input %x : float32[2]\n %a = act(%x) kind=relu\n output %a }");
  auto out = run_graph(g, {{"x", Tensor::of<float>({2}, {-1, 2})}});
  ASSERT_TRUE(out);
  EXPECT_EQ(out->at("a").data<float>()[0], 0);
  EXPECT_EQ(out->at("a").data<float>()[1], 2);
  EXPECT_FALSE(run_graph(g, {}));
}

}  // namespace
}  // namespace enginery
