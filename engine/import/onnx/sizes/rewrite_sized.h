// rewrite_sized: operators that take a shape, repeats or limits, where these have counts among them
// (size_parts.h), or where the value has open axes: ConstantOfShape, Expand, Reshape, Flatten,
// Tile, Range, and a count times a number.
//
// Where: below rewrite_open. Free functions without state.
#pragma once

#include "engine/import/onnx/sizes/rewrite_open.h"

namespace enginery {

// Whether such an operator has a count among its numbers.
bool takes_counts(const OpenAxes& open, const Graph& graph, const Op& op,
                  const std::vector<ValueId>& inputs);

// As rewrite_open, for one of these operators; any other is left as it is.
Result<Rewritten> rewrite_sized(Op& op, std::vector<ValueId>& inputs, OpenAxes& open,
                                const Graph& graph, Steps& steps);

}  // namespace enginery
