// Folds a scale and shift of each channel (a batch norm that nothing before it took in, a
// normalisation of the input) into the weights and bias of the convolution or matrix product that
// alone reads it: w (s x + t) + b = (w s) x + (b + w t).
//
// Exact where the padding is not shifted: without padding, or with a shift of zero. Runs after
// fold_batch_norm, which prefers the producer and leaves a product and a sum of the others.
#pragma once

#include "engine/graph/graph.h"

namespace enginery {

// How many places changed.
Result<int> fold_into_next(Graph& graph);

}  // namespace enginery
