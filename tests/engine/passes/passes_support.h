// What the tests of single passes share: graphs from text, a pass run and checked against the
// references.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

#include "engine/graph/run_graph.h"
#include "engine/graph/text.h"

namespace enginery {

// "graph t { body }"; a mistake fails the test.
inline Graph parse(const std::string& body) {
  auto graph = parse_graph("graph t {\n" + body + "\n}");
  EXPECT_TRUE(graph) << (graph ? "" : graph.error().message);
  return graph ? *graph : Graph();
}

inline const std::string kConv =
    "strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] groups=1";

// A convolution %c of the input %x by the constants %w, four channels of 5 x 5 both ways, and what
// `rest` makes of it: what the tests of fusing and folding begin with.
inline Graph convolution_then(const std::string& rest, const std::string& inputs = "%x, %w") {
  return parse("input %x : float32[1x4x5x5]\n %w = constant float32[4x4x3x3] random(1)\n" +
               std::string("%c = conv(") + inputs + ") " + kConv + "\n" + rest);
}

// Uniform floats in [-2, 2] for every input; 50 times that, whole, for bytes.
inline std::map<std::string, Tensor> uniform_inputs(const Graph& graph, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<float> uniform(-2, 2);
  std::map<std::string, Tensor> out;
  for (ValueId v : graph.inputs()) {
    Tensor t(DataType::float32, graph.value(v).type.dims);
    for (float& x : t.mutable_data<float>()) x = uniform(random);
    const DataType type = graph.value(v).type.type;
    if (type == DataType::int8 || type == DataType::uint8) {
      for (float& x : t.mutable_data<float>()) x = std::abs(50 * x);
      t = convert(t, type);
    }
    out[graph.value(v).name] = t;
  }
  return out;
}

// Runs `before` and `after` on the same data and compares every output by position.
inline void expect_same_results(const Graph& before, const Graph& after, double tolerance = 1e-5) {
  ASSERT_TRUE(verify(after)) << verify(after).error().message;
  auto inputs = uniform_inputs(before, 11);
  auto a = run_graph(before, inputs), b = run_graph(after, inputs);
  ASSERT_TRUE(a);
  ASSERT_TRUE(b) << b.error().message;
  for (size_t i = 0; i < before.outputs().size(); ++i) {
    const Tensor& x = a->at(before.value(before.outputs()[i]).name);
    const Tensor& y = b->at(after.value(after.outputs()[i]).name);
    EXPECT_LE(relative_error(y, x), tolerance);
  }
}

// Runs one pass and compares results before and after; gives the number of places changed.
inline int run(Result<int> (*pass)(Graph&), Graph& graph) {
  Graph before = graph;
  auto changed = pass(graph);
  EXPECT_TRUE(changed) << (changed ? "" : changed.error().message);
  expect_same_results(before, graph);
  return changed ? *changed : -1;
}

// The node of that name; one that is not there fails the test.
inline const Node& node_named(const Graph& graph, const std::string& name) {
  for (NodeId id : graph.topological_order()) {
    if (graph.node(id).name == name) return graph.node(id);
  }
  ADD_FAILURE() << "no node is called " << name;
  return graph.node(0);
}

template <typename T>
int count(const Graph& graph) {
  int n = 0;
  for (NodeId id : graph.topological_order()) n += std::holds_alternative<T>(graph.node(id).op);
  return n;
}

}  // namespace enginery
