// Moves transposes down to the next transpose, with which they become one or none: through
// element-wise operators (the constant beside is permuted), through reshapes that keep the moved
// dimensions apart (splitting or merging heads), and below a binary operator that two equal
// transposes feed. A transpose moves only where one fewer is left, with one exception: between a
// product or convolution and the addition of a residual it moves below the addition, which then is
// a step of the product; the residual is transposed instead, and in a chain of residual blocks that
// takes back what the block before did.
//
// Runs after the fusion of activations, whose pieces read their input more than once, and before
// vertical fusion, whose chains a transpose would cut.
#pragma once

#include "engine/graph/graph.h"

namespace enginery {

// How many places changed.
Result<int> sink_transposes(Graph& graph);

}  // namespace enginery
