// Recognises activations that exporters leave in pieces: x * sigmoid(x), hard swish, hard sigmoid,
// Mish, GELU by erf and by tanh.
//
// Runs after constant folding (their scalars are constants) and before vertical fusion, which then
// takes them as one step.
#pragma once

#include "engine/graph/graph.h"

namespace enginery {

// How many places changed.
Result<int> fuse_activations(Graph& graph);

}  // namespace enginery
