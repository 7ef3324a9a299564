// Forms fusion groups: an anchor (convolution, deconvolution, matrix product, normalisation,
// element-wise operation) with the activations, bias, residual additions and products that follow.
//
// Runs last. Where both inputs of an addition come from anchors, the later one takes it. Groups are
// proposals: plan keeps what a tactic source can run whole.
#pragma once

#include "engine/graph/graph.h"

namespace enginery {

// How many places changed.
Result<int> fuse_vertical(Graph& graph);

}  // namespace enginery
