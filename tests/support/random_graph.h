// Random graphs for the tests of everything that rewrites graphs: passes alone, the pass list, and
// what is built from their result.
//
// A graph has up to five ranks, five element types, broadcasts that widen, chains of casts,
// constants of equal bytes but other types or dims, values with several readers and outputs in the
// middle. Each output comes with the largest difference that a correct rewriting may cause.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/graph/graph.h"

namespace enginery::test {

// The seed of this run: ENGINERY_TEST_SEED, or a fresh one. Printed once, so that a failure can be
// repeated.
uint64_t test_seed();

struct RandomGraph {
  Graph graph;
  // One for each output: the largest absolute difference that reordered float arithmetic explains.
  // 0 for integers, booleans and whatever no pass may round: equal values are demanded.
  std::vector<double> bars;
};

// About `nodes` nodes; the same graph for the same seed.
RandomGraph random_graph(uint64_t seed, int nodes = 16);

// Data for each input: multiples of 1/8 in [-2, 2], integers in [-4, 4], booleans.
std::map<std::string, Tensor> random_inputs(const Graph& graph, uint64_t seed);

// Runs both graphs on the same random inputs: "" when every output of `after` has the name, the
// type and, within its bar, the values that `before` gives; else what differs.
std::string difference(const RandomGraph& before, const Graph& after, uint64_t seed);

// "" when each fusion group can run as one kernel: a chain from its anchor in which every value has
// one reader, none is an output of the graph, and every later node keeps the anchor's type; else
// which group breaks that.
std::string group_problem(const Graph& graph);

}  // namespace enginery::test
