// late_constants: the part of a topological order that says when constants are computed.
//
// Used by Graph::topological_order alone. A free function without state.
#pragma once

#include "engine/graph/graph.h"

namespace enginery {

// The nodes of `order`, which puts producers first, with those that hang on no input of the graph
// moved to right before their first reader, depth first and the longest chain first: a sum of n
// constants then has three of them alive at a time, not n. Linear in the graph.
std::vector<NodeId> late_constants(const Graph& graph, std::vector<NodeId> order);

}  // namespace enginery
