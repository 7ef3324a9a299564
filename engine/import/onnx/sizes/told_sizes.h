// Sizes that a run computes and no rule of open axes (open_axes.h) knows, as of what has n * n
// elements, n a count: no build can take them, so they are refused while the model is read.
//
// Where: NodeReader asks of each node that it has added. Free function without state.
#pragma once

#include "engine/import/onnx/sizes/open_axes.h"

namespace enginery {

// Errors: unsupported (a result of the node, of inputs whose sizes are known, has a size that an
// integer input decides which follows from the graph's inputs). Sizes that follow from constants
// are left to the passes.
Status require_known_sizes(OpenAxes& open, const Graph& graph, const Node& node);

}  // namespace enginery
