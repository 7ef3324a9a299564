// Computes at build time every node whose inputs are all constants.
//
// Runs first: shape rules and the other passes look at constants. Nodes that no output needs go
// before anything is computed. What only other constants read is dropped again; what the engine has
// to keep is limited: 64 MiB a value, and the graph's limit on folded bytes for all. Beyond them
// the nodes stay, as do quantised weights beside quantised activations, which sources may multiply
// as they are: lowering makes floats of them for the others. Storing what an Expand or Tile repeats
// would make the engine larger and no faster. Errors: invalid_argument naming a node whose
// reference refuses its constants; unsupported naming the one at which the work would pass the
// graph's limit, whether its result could be kept or not: then the engine would do that work in
// every run.
#pragma once

#include "engine/graph/graph.h"

namespace enginery {

// How many places changed.
Result<int> fold_constants(Graph& graph);

}  // namespace enginery
