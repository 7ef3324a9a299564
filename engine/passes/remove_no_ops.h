// Removes nodes that return their input: identity, dropout, casts, reshapes, transposes, pads and
// resizes that change nothing, sums with 0 and products with 1, expansions to dims that an
// element-wise operator broadcasts to anyway; two casts of which the first loses nothing are one.
//
// Runs before pattern matching, since such nodes separate the pieces of a pattern. An output of the
// graph never becomes an input or a constant; its name stays.
#pragma once

#include "engine/graph/graph.h"

namespace enginery {

// How many places changed.
Result<int> remove_no_ops(Graph& graph);

}  // namespace enginery
