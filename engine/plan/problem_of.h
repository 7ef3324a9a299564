// Problems out of a graph: what a tactic source sees of one node, of a fusion group or of a region.
// Inside plan only; network.h lowers with it. Free functions without state.
#pragma once

#include <optional>
#include <span>

#include "engine/plan/network.h"

namespace enginery {

// Nodes of a graph in topological order.
using Members = std::span<const NodeId>;

// An anchor and the epilogue that follows it, as one problem without tactics.
NetworkNode make_node(const Graph& graph, Members members);

// Whether make_node can express the members: what follows the anchor is activations, sums and
// products, and the anchor computes something.
bool is_epilogue(const Graph& graph, Members members);

// For each value the live nodes that read it, as Graph::users gives them.
using Users = std::vector<std::vector<NodeId>>;

// The members as a region without tactics; nothing where they are none: nobody outside may read
// what one of them gives but the last one's only result, all sizes are known, and its text reads
// back. A Dequantize in the first place may have other readers, too: the region runs it for itself.
// Behind it the Dequantize nodes of constants that its members read come along, and, where
// `operands` says so, those of run-time values by constants.
std::optional<NetworkNode> make_region(
    const Graph& graph, const Users& users, Members members,
    RegionPattern::Operands operands = RegionPattern::Operands::in_float);

// The places in the graph that fit, each in the pattern's order, by their first nodes in `order`.
std::vector<std::vector<NodeId>> find_regions(const Graph& graph, const Users& users,
                                              const std::vector<NodeId>& order,
                                              const RegionPattern& pattern);

}  // namespace enginery
