// Gives each computation one spelling: a mean over the whole plane is a global pooling, an average
// pooling over the whole plane too; a square is a product, and so is a division by a power of two;
// a difference with a constant is a sum, the larger or smaller of a value and one number a clip;
// Gemm's scalars go into its weights; a resize's scales become sizes where these say the same; a
// convolution that takes planes of a film whole is one of two dimensions over their channels.
//
// Runs early: what follows, and the tactic sources, then need to know one form only.
#pragma once

#include "engine/graph/graph.h"

namespace enginery {

// How many places changed.
Result<int> canonicalize(Graph& graph);

}  // namespace enginery
