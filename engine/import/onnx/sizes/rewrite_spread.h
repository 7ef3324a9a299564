// Pad and Resize of values with open axes, which they leave as they are; along the others they do
// what they do.
//
// Where: a part of rewrite_open. Free function without state.
#pragma once

#include "engine/import/onnx/sizes/rewrite_open.h"

namespace enginery {

Result<Rewritten> rewrite_spread(Op& op, std::vector<ValueId>& inputs, OpenAxes& open,
                                 const Graph& graph, Steps& steps);

}  // namespace enginery
