// Merges nodes that compute the same thing from the same inputs (common-subexpression merge).
//
// Runs before fusion, so that both readers share one producer. Constants of at most 4 KiB count as
// the same where type, dims and bytes are equal.
#pragma once

#include "engine/graph/graph.h"

namespace enginery {

// How many places changed.
Result<int> merge_common(Graph& graph);

}  // namespace enginery
