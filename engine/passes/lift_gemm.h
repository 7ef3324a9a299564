// A Gemm between a reshape that flattens its rows and one that takes that back (PyTorch's Conv1D,
// linear layers of some exporters) becomes a matrix product of the whole and the addition of its
// bias.
//
// Runs after canonicalize, which leaves Gemms without factors, and before fusion: the activation or
// the residual behind the second reshape can join the product.
#pragma once

#include "engine/graph/graph.h"

namespace enginery {

// How many places changed.
Result<int> lift_gemm(Graph& graph);

}  // namespace enginery
