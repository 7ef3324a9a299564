// Moves a Quantize to 8 bits by one scale from behind what only moves or chooses numbers (Concat,
// max pooling, reshapes, transposes) to before it: the same numbers, of a quarter of the bytes, and
// a product before it may round its sums to 8 bits itself. A NaN alone is lost earlier: it is 0
// before a maximum is taken. A Quantize that then stands behind the Dequantize of the same scale
// and zero point, or behind a Cast of integers times its scale, goes: the integers are as they
// were.
//
// Runs before vertical fusion, once the nodes around it are final.
#pragma once

#include "engine/graph/graph.h"

namespace enginery {

// How many places changed.
Result<int> raise_quantize(Graph& graph);

}  // namespace enginery
