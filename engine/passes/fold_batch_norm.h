// Folds batch normalisation, and per-channel scales and shifts by constants, into the convolution,
// deconvolution or matrix product before.
//
// Weights in 8 bits stay the integers that they are: their scales take s in. Runs before vertical
// fusion; w' = w * s, b' = b * s + t with s = scale / sqrt(variance +
// epsilon), t = bias - mean * s. A batch norm with no such producer becomes a multiplication and an
// addition.
#pragma once

#include "engine/graph/graph.h"

namespace enginery {

// How many places changed.
Result<int> fold_batch_norm(Graph& graph);

}  // namespace enginery
