// Removes nodes that no output depends on.
//
// Runs before fusion, because a dead reader would count as a second user of a value.
#pragma once

#include "engine/graph/graph.h"

namespace enginery {

// How many places changed.
Result<int> remove_dead(Graph& graph);

}  // namespace enginery
