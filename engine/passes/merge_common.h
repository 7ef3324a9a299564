// Merges nodes that compute the same thing from the same inputs (common-subexpression merge).
//
// Runs before fusion, so that both readers share one producer. Equal small constants count as the
// same.
#pragma once

#include "engine/graph/graph.h"

namespace enginery {

Result<int> merge_common(Graph& graph);

}  // namespace enginery
