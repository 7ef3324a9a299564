// Binding a graph's run-time sizes: where each comes from, what is assumed, and which
// contradictions are named.
#include "tests/engine/graph/graph_support.h"

namespace enginery {
namespace {

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

constexpr char kTwoInputs[] = R"(graph g {
  input %a : float32[NxM]
  input %b : float32[Mx?]
  %c = matmul(%a, %b)
  output %c })";

TEST(Specialize, OneInputsShapeBindsTheOthersSymbols) {
  const auto bound = specialize(parse(kTwoInputs), {{"a", {2, 3}}});
  ASSERT_TRUE(bound.ok());
  EXPECT_EQ(bound->graph.value(bound->graph.inputs()[1]).type.dims, (Dims{3, 1}));
  EXPECT_EQ(bound->defaulted, std::vector<std::string>{"b: ? = 1"});
  EXPECT_TRUE(bound->graph.symbols.empty());
}

TEST(Specialize, LeavesTheOriginalAsItWas) {
  const Graph g = parse(kTwoInputs);
  const std::string before = to_text(g);
  ASSERT_TRUE(specialize(g, {{"a", {2, 3}}}).ok());
  EXPECT_EQ(to_text(g), before);
}

TEST(Specialize, SaysWhichDimensionHasTwoSizes) {
  const auto bad = specialize(parse(kTwoInputs), {{"a", {2, 3}}, {"b", {4, 5}}});
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().message, "input 'b': dimension 'M' is 4 here and 3 elsewhere");
}

TEST(Specialize, NamesTheInputsThatThereAre) {
  EXPECT_EQ(specialize(parse(kTwoInputs), {{"x", {1}}}).error().message,
            "the model has no input 'x' (it has: a, b)");
}

TEST(Specialize, WantsShapesOfTheSameRankAndOfKnownSizes) {
  EXPECT_EQ(specialize(parse(kTwoInputs), {{"a", {2}}}).error().message,
            "input 'a' has 2 dimensions, the shape 2 does not fit");
  EXPECT_EQ(specialize(parse(kTwoInputs), {{"a", {2, kDynamic}}}).error().message,
            "input 'a' has 2 dimensions, the shape 2x? does not fit");
}

TEST(Specialize, RefusesAnInputTooLargeToHold) {
  const auto bad = specialize(parse(kTwoInputs), {{"a", {int64_t{1} << 30, int64_t{1} << 30}}});
  ASSERT_FALSE(bad.ok());
  EXPECT_TRUE(bad.error().message.starts_with("input 'a': ")) << bad.error().message;
}

}  // namespace
}  // namespace enginery
