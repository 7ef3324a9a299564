// Moves a Quantize by one scale from behind a Concat to before each of its inputs: the same
// numbers, and a product before it may round its sums to 8 bits itself, so that what is joined is
// a quarter of the bytes.
//
// Runs before vertical fusion, once the nodes around it are final.
#pragma once

#include "engine/graph/graph.h"

namespace enginery {

// How many places changed.
Result<int> raise_quantize(Graph& graph);

}  // namespace enginery
