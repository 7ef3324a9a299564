// What computing a node at build time costs, for the limits on constant folding. A free function
// without state.
#pragma once

#include "engine/graph/graph.h"

namespace enginery {

// In operations of a product, about: as long as the references take for so many multiplications and
// additions. The node's sizes must be known.
double folding_work(const Graph& graph, const Node& node);

}  // namespace enginery
