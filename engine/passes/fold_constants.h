// Computes at build time every node whose inputs are all constants.
//
// Runs first: shape rules and the other passes look at constants. Nodes whose result would pass 64
// MiB stay: storing what an Expand or Tile repeats would make the engine larger and no faster.
// Errors: invalid_argument naming a node whose reference refuses its constants.
#pragma once

#include "engine/graph/graph.h"

namespace enginery {

// How many places changed.
Result<int> fold_constants(Graph& graph);

}  // namespace enginery
