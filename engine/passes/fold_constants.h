// Computes at build time every node whose inputs are all constants.
//
// Runs first: shape rules and the other passes look at constants. Nodes whose result would pass 64
// MiB stay (an expanded constant only costs space).
#pragma once

#include "engine/graph/graph.h"

namespace enginery {

Result<int> fold_constants(Graph& graph);

}  // namespace enginery
