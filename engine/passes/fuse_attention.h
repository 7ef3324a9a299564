// Recognises attention that exporters leave in pieces: the product of queries and keys, a scale
// before or after it (or its root on both sides), masks (Where, then one or two additions),
// softmax, perhaps zeros in place of NaN (Where over IsNaN), and the product with the values. What
// only moves the operands and the result (transpositions, splits of a packed product, keys repeated
// for several heads) becomes part of it, and so do reshapes of the stack of score matrices between
// these steps (windows and heads apart for a mask, joined for the products). Of two addends
// (relative positions and a mask) their sum becomes the operator's: a constant where both are, else
// added beforehand.
//
// Leaves alone whatever else reads a piece, softmax over another axis, and what kernels do not
// serve (engine/ops/attention.h). Runs after merge_common and before vertical fusion; the pieces
// are left to remove_dead.
#pragma once

#include "engine/graph/graph.h"

namespace enginery {

// How many places changed.
Result<int> fuse_attention(Graph& graph);

}  // namespace enginery
