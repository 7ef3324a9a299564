// Forms fusion groups: an anchor (convolution, deconvolution, matrix product, normalisation) with
// the activations, bias, residual additions and products that follow, and chains of element-wise
// operators of any kind.
//
// Runs last. Where both inputs of an addition come from anchors, the later one takes it. Groups are
// proposals: plan keeps what a tactic source can run whole.
#pragma once

#include "engine/graph/graph.h"

namespace enginery {

// How many places changed.
Result<int> fuse_vertical(Graph& graph);

}  // namespace enginery
