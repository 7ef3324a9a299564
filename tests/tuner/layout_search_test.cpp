#include "tuner/layout_search.h"

#include <gtest/gtest.h>

#include <limits>

#include "engine/graph/text.h"

namespace enginery {
namespace {

const Format kLinear{DataType::float32, {}};
const Format kNhwc{DataType::float32, {LayoutKind::channels_last, 0}};

Tactic tactic(const Format& in, const Format& out) {
  Tactic t;
  t.source = "test";
  t.id = to_string(in) + to_string(out);
  t.inputs = {in};
  t.outputs = {out};
  return t;
}

// A chain of `length` activations, each linear or nhwc throughout.
Network chain(int length) {
  std::string text = "graph c { input %v0 : float32[1x4x8x8]\n";
  for (int i = 1; i <= length; ++i)
    text += "%v" + std::to_string(i) + " = act(%v" + std::to_string(i - 1) + ") kind=relu\n";
  Network network;
  network.graph = *parse_graph(text + "output %v" + std::to_string(length) + "\n}");
  for (NodeId id : network.graph.topological_order()) {
    const Node& node = network.graph.node(id);
    NetworkNode n;
    n.name = node.name;
    n.problem.op = node.op;
    n.problem.inputs.resize(1);
    n.problem.outputs.resize(1);
    n.inputs = node.inputs;
    n.outputs = node.outputs;
    n.tactics = {tactic(kLinear, kLinear), tactic(kNhwc, kNhwc)};
    network.nodes.push_back(n);
  }
  return network;
}

double constant_cost(const ReformatKey&) {
  return 10;
}

TEST(LayoutSearch, SwitchesAWholeChainWhenTheSumPays) {
  // Each node gains 5 in nhwc; a switch of the whole chain costs two reformats of 10, so it pays
  // from length 5 on.
  for (int length : {3, 4, 5, 12}) {
    Network network = chain(length);
    TacticCosts costs(static_cast<size_t>(length), {15, 10});
    auto best = search_layouts(network, costs, constant_cost, 3).at(0);
    double expected = std::min(15.0 * length, 10.0 * length + 20);
    EXPECT_DOUBLE_EQ(best.total_us, expected) << "length " << length;
  }
}

TEST(LayoutSearch, StaysWithOneNodeThatGainsNothing) {
  Network network = chain(5);
  TacticCosts costs(5, {10, 10});
  costs[2] = {30, 10};  // saves 20, costs 20: the search must not do worse than either
  auto best = search_layouts(network, costs, constant_cost, 3).at(0);
  EXPECT_DOUBLE_EQ(best.total_us, 70);
}

TEST(LayoutSearch, NeverUsesATacticOfInfiniteCost) {
  Network network = chain(4);
  double infinite = std::numeric_limits<double>::infinity();
  TacticCosts costs(4, {100, 1});
  costs[1] = {100, infinite};
  auto best = search_layouts(network, costs, constant_cost, 3).at(0);
  EXPECT_EQ(best.choice[1], 0u);
  EXPECT_LT(best.total_us, infinite);
}

TEST(LayoutSearch, ChargesASharedReformatOnce) {
  Network network = chain(2);
  // Both nodes read v0: the second node reads the input as well.
  network.nodes[1].inputs = network.nodes[0].inputs;
  TacticCosts costs(2, {100, 1});
  auto best = search_layouts(network, costs, constant_cost, 1).at(0);
  EXPECT_DOUBLE_EQ(
      best.total_us,
      1 + 1 + 10 + 10);  // one reformat in, one out (v1 is no output and nobody reads it)
}

TEST(LayoutSearch, GivesDistinctSolutionsBestFirst) {
  auto found = search_layouts(chain(3), TacticCosts(3, {10, 11}), constant_cost, 5);
  for (size_t i = 1; i < found.size(); ++i) {
    EXPECT_LE(found[i - 1].total_us, found[i].total_us);
    EXPECT_NE(found[i - 1].choice, found[i].choice);
  }
}

}  // namespace
}  // namespace enginery
