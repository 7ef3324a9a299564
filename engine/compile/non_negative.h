// Which values of a graph can hold no negative number, whatever its inputs are.
//
// Where: quantisation counts such activations in uint8, in steps of half the size. It follows from
// the graph alone, so that the structure of a quantised network does not depend on data. Free
// function without state.
#pragma once

#include <vector>

#include "engine/graph/graph.h"

namespace enginery {

// Index = ValueId; false also where the operators do not tell.
std::vector<bool> non_negative_values(const Graph& graph);

}  // namespace enginery
