// Writes the padding of whole numbers and booleans as a join with constants: devices move elements
// of every type, while their kernels that pad compute with floats. Transformers pad positions,
// masks and ids so (LongT5's blocks).
#pragma once

#include "engine/graph/graph.h"

namespace enginery {

// How many Pads became joins: those with a constant around them (no edges, reflections or crops),
// of known sizes, whose constants have at most 65,536 elements each. 8-bit values are left:
// quantised pictures have kernels of their own.
Result<int> join_pads(Graph& graph);

}  // namespace enginery
