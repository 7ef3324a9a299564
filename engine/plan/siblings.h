// Siblings: dense convolutions of one value that differ in nothing but their constant weights and
// biases. One convolution with all their output channels side by side and a Split behind it compute
// the same (horizontal fusion): the value is read once, and one launch fills the device better than
// several small ones.
//
// Where: lowering calls it last, and offers what it makes as alternatives, which measured times
// decide about. Siblings are of floats: those of quantised weights are regions
// (tactic.h, RegionPattern), which their sources would have to merge. Free functions without state.
#pragma once

#include "engine/plan/network.h"

namespace enginery {

// Both nodes are without tactics and have the names of the siblings' results. They stand where the
// first of the siblings stood: what reads that one's result may stand before the last one.
struct MergedSiblings {
  std::vector<size_t> siblings;  // indices of the nodes, ascending
  NetworkNode convolution;       // of all of them
  NetworkNode split;             // along the channels; gives the siblings' own results
};

// Groups of two or more siblings, by their first nodes: those with equal attributes, kernel sizes,
// types, activations and precisions, whose results are no outputs of the graph and which some
// source besides the reference runs. Behind a group some of whose results a Concat reads come those
// that none does, where they are two or more: what a Concat reads can be written into its result at
// once, but not as a part of another value.
//
// `nodes` are the graph's, with their tactics. Adds the merged constants and values to the graph,
// and no nodes. The weights are there twice until a plan holds one of the two, so all merged ones
// together are kept within Limits::folded_mib; groups that no longer fit are left out.
std::vector<MergedSiblings> merge_siblings(Graph& graph, const std::vector<NetworkNode>& nodes);

}  // namespace enginery
