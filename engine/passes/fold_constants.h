// Computes at build time every node whose inputs are all constants.
//
// Runs first: shape rules and the other passes look at constants. Nodes that no output needs are
// left alone. Nodes whose result would pass 64 MiB stay, and so do all once the graph's limit on
// folded bytes is reached: storing what an Expand or Tile repeats would make the engine larger and
// no faster. Errors: invalid_argument naming a node whose reference refuses its constants;
// unsupported naming the one at which the work would pass the graph's limit.
#pragma once

#include "engine/graph/graph.h"

namespace enginery {

// How many places changed.
Result<int> fold_constants(Graph& graph);

}  // namespace enginery
