// rewrite_scatter: ScatterElements and ScatterNd whose positions, or whose data, have open axes.
//
// Where: below rewrite_open. Free function without state.
#pragma once

#include "engine/import/onnx/sizes/rewrite_open.h"

namespace enginery {

// As rewrite_open, for one of the two; any other is left as it is. What stands behind the counts of
// the positions is written into a row behind the data's, which is cut off again.
Result<Rewritten> rewrite_scatter(Op& op, std::vector<ValueId>& inputs, OpenAxes& open,
                                  const Graph& graph, Steps& steps);

}  // namespace enginery
