// Recognises normalisations that exporters leave in pieces: layer normalisation (mean, difference,
// mean of squares, root, quotient), RMS normalisation, group normalisation written as an instance
// normalisation between reshapes; each with the scale and bias that follow it.
//
// Runs after merge_common (a difference that was written twice is one) and before vertical fusion,
// which takes the result as an anchor. The pieces are left to remove_dead.
#pragma once

#include "engine/graph/graph.h"

namespace enginery {

// How many places changed.
Result<int> fuse_normalizations(Graph& graph);

}  // namespace enginery
