// Joins a padding to the convolution or pooling that reads it, whose own padding it becomes: what
// exporters write where a framework pads on one side only, or pads by a layer of its own.
//
// Zeros before a convolution or an average, the least number before a maximum; zeros there, too,
// where nothing negative can be in a window. Runs before batch norms are folded, which a padding
// hides from each other's convolution.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/graph/graph.h"

namespace enginery {

// How many places changed. Pads that nobody reads any longer stay for remove_dead.
Result<int> fold_pads(Graph& graph);

// What a Pad adds around each dimension of a value of this rank: begins, then ends; negative ones
// crop. Nothing where its amounts or axes are no constants, or do not fit each other.
std::optional<std::vector<int64_t>> pad_amounts(const Graph& graph, const Node& pad, size_t rank);

}  // namespace enginery
