// Merges nodes that compute the same thing from the same inputs (common-subexpression merge).
//
// Runs before fusion, so that both readers share one producer. Constants count as the same where
// type, dims and bytes are equal; of equal ones above 4 KiB the nodes read one, so that the engine
// stores it once.
#pragma once

#include "engine/graph/graph.h"

namespace enginery {

// How many places changed.
Result<int> merge_common(Graph& graph);

}  // namespace enginery
