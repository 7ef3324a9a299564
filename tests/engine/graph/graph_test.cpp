// Building and editing a graph: names, types, order, uses.
#include "engine/graph/graph.h"

#include <set>

#include "tests/engine/graph/graph_support.h"

namespace enginery {
namespace {

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

TEST(Graph, AddNodeLeavesTheGraphAloneWhereItRefuses) {
  Graph g = parse(kChain);
  const std::string before = to_text(g);
  const int32_t values = g.value_count(), nodes = g.node_count();
  EXPECT_FALSE(g.add_node("bad", Softmax{.axis = 9}, {g.inputs()[0]}).ok());
  EXPECT_EQ(to_text(g), before);
  EXPECT_EQ(g.value_count(), values);
  EXPECT_EQ(g.node_count(), nodes);
}

TEST(Graph, NumbersCollidingNamesWithoutMeetingOthers) {
  Graph g;
  const auto name = [&](const char* wanted) {
    return g.value(g.add_input(wanted, {DataType::float32, {1}})).name;
  };
  EXPECT_EQ(name("x"), "x");
  EXPECT_EQ(name("x.1"), "x.1");
  const std::string second = name("x"), third = name("x");
  const std::set<std::string> all{"x", "x.1", second, third};
  EXPECT_EQ(all.size(), 4u) << second << " " << third;
  EXPECT_FALSE(name("").empty());
}

TEST(Graph, OneSymbolIsOneSize) {
  Graph g;
  const int64_t n = g.symbol_size("N"), m = g.symbol_size("M");
  EXPECT_EQ(n, -2);
  EXPECT_EQ(m, -3);
  EXPECT_EQ(g.symbol_size("N"), n);
}

TEST(Graph, OrdersAProducerThatWasAddedBehindItsReader) {
  Graph g = parse(kChain);
  const auto late = g.add_node("late", Activation{ActivationKind::tanh}, {g.inputs()[0]});
  ASSERT_TRUE(late.ok());
  g.node(0).inputs[0] = (*late)[0];  // x -> late -> a -> b
  EXPECT_EQ(g.topological_order(), (std::vector<NodeId>{2, 0, 1}));
  EXPECT_TRUE(verify(g).ok());
}

std::vector<std::string> names_in_order(const Graph& g) {
  std::vector<std::string> out;
  for (const NodeId id : g.topological_order()) out.push_back(g.node(id).name);
  return out;
}

// A sum of n constants has three of them alive at a time, whichever operand the chain is.
TEST(Graph, ComputesAConstantRightBeforeItsReader) {
  const Graph g = parse(R"(graph g {
    input %x : float32[2]
    %s = constant int64[1] {2}
    %a = fill(%s) value=1
    %b = fill(%s) value=2
    %c = fill(%s) value=3
    %r = act(%x) kind=relu
    %p = binary(%a, %b) kind=add
    %q = binary(%c, %p) kind=add
    %y = binary(%r, %q) kind=add
    output %y })");
  EXPECT_EQ(names_in_order(g), (std::vector<std::string>{"r", "a", "b", "p", "c", "q", "y"}));
}

TEST(Graph, OrdersConstantsThatNothingButAnOutputReads) {
  const Graph g = parse(R"(graph g {
    input %x : float32[2]
    %s = constant int64[1] {2}
    %a = fill(%s) value=1
    %unread = fill(%s) value=2
    %y = act(%x) kind=relu
    %z = act(%a) kind=relu
    output %y
    output %z })");
  EXPECT_EQ(names_in_order(g), (std::vector<std::string>{"y", "unread", "a", "z"}));
}

TEST(Graph, AConstantThatManyReadStandsBeforeTheFirst) {
  const Graph g = parse(R"(graph g {
    input %x : float32[2]
    %s = constant int64[1] {2}
    %a = fill(%s) value=1
    %p = binary(%x, %a) kind=add
    %b = act(%a) kind=relu
    %q = binary(%p, %b) kind=add
    %y = binary(%q, %a) kind=add
    output %y })");
  EXPECT_EQ(names_in_order(g), (std::vector<std::string>{"a", "p", "b", "q", "y"}));
  EXPECT_TRUE(verify(g).ok());
}

TEST(Graph, ListsAReaderOnceForEachUse) {
  Graph g = parse("graph g { input %x : float32[2]\n %y = binary(%x, %x) kind=mul\n output %y }");
  EXPECT_EQ(g.users()[static_cast<size_t>(g.inputs()[0])], (std::vector<NodeId>{0, 0}));
  g.erase_node(0);
  EXPECT_TRUE(g.users()[static_cast<size_t>(g.inputs()[0])].empty());
}

TEST(Graph, AnOutputKeepsItsNameWhenItsValueIsReplaced) {
  Graph g = parse(kChain);
  const ValueId a = g.node(0).outputs[0], b = g.node(1).outputs[0];
  g.replace_uses(b, a);
  g.erase_node(1);
  ASSERT_EQ(g.outputs(), std::vector<ValueId>{a});
  EXPECT_EQ(g.value(a).name, "b");
  EXPECT_TRUE(verify(g).ok());
}

TEST(Graph, ReplacingAnInnerValueRenamesNothing) {
  Graph g = parse(kChain);
  const ValueId x = g.inputs()[0], a = g.node(0).outputs[0];
  g.replace_uses(a, x);
  EXPECT_EQ(g.node(1).inputs, std::vector<ValueId>{x});
  EXPECT_EQ(g.value(x).name, "x");
}

TEST(Graph, MarkOutputRefusesAnUnknownValue) {
  Graph g = parse(kChain);
  EXPECT_EQ(g.mark_output(-1).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(g.mark_output(g.value_count()).error().code, ErrorCode::invalid_argument);
  ASSERT_TRUE(g.mark_output(g.inputs()[0], "given").ok());
  EXPECT_EQ(g.value(g.inputs()[0]).name, "given");
}

// A reader's inner value may have been called like a later output of the file.
TEST(Graph, AnInnerValueGivesItsNameUpToAnOutput) {
  Graph g = parse(kChain);
  const ValueId x = g.inputs()[0], a = g.node(0).outputs[0];
  const ValueId wanted = (*g.add_node("", Activation{}, {x}, {"a"}))[0];
  ASSERT_NE(g.value(wanted).name, "a");
  ASSERT_TRUE(g.mark_output(wanted, "a").ok());
  EXPECT_EQ(g.value(wanted).name, "a");
  EXPECT_NE(g.value(a).name, "a");
  const ValueId c = (*g.add_node("c", Activation{}, {wanted}))[0];
  ASSERT_TRUE(g.mark_output(c, "x").ok());
  EXPECT_EQ(g.value(x).name, "x") << "inputs keep theirs";
  EXPECT_NE(g.value(c).name, "x");
  const ValueId d = (*g.add_node("d", Activation{}, {wanted}))[0];
  ASSERT_TRUE(g.mark_output(d, "a").ok());
  EXPECT_EQ(g.value(wanted).name, "a") << "so do other outputs";
}

TEST(Graph, ACopyIsEditedAlone) {
  const Graph g = parse(kChain);
  Graph copy = g;
  copy.erase_node(1);
  EXPECT_EQ(g.live_node_count(), 2);
  EXPECT_EQ(copy.live_node_count(), 1);
}

}  // namespace
}  // namespace enginery
