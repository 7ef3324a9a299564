// Removes nodes that return their input: identity, dropout, casts, reshapes, transposes and pads
// that change nothing.
//
// Runs before pattern matching, since such nodes stand between the pieces of a pattern.
#pragma once

#include "engine/graph/graph.h"

namespace enginery {

Result<int> remove_no_ops(Graph& graph);

}  // namespace enginery
