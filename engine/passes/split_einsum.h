// Einstein sums of two operands as matrix products: operands transposed and reshaped to [batch...,
// rows, depth] and [batch..., depth, columns] where they are not so already. Those of one operand
// as sums over dimensions and transposes. Dots ("...") stand for dimensions that both have in the
// same sizes, or one alone.
//
// Runs early: every device has fast products, and the transposes may merge with others.
#pragma once

#include "engine/graph/graph.h"

namespace enginery {

// How many places changed.
Result<int> split_einsum(Graph& graph);

}  // namespace enginery
