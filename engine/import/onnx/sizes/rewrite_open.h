// rewrite_open: what an operator needs before it may read values with open axes (open_axes.h), so
// that elements behind a count reach none that counts.
//
// Where: NodeReader, before it adds a node that reads such a value. Free function without state.
#pragma once

#include "engine/import/onnx/sizes/open_axes.h"

namespace enginery {

// How further nodes come into the graph: each may itself be rewritten. kNoValue after a failure,
// which whoever implements this keeps.
class Steps {
 public:
  virtual ~Steps() = default;
  virtual ValueId add(Op op, std::vector<ValueId> inputs) = 0;
  virtual ValueId constant(Tensor tensor) = 0;
  // int64 0, 1, ... in order; refused, before they are made, where they take too much memory.
  virtual ValueId counting(Dims dims) = 0;
};

struct Rewritten {
  std::vector<ValueId> values;  // that stand for the node's outputs; none: the node is to be added
  ValueId count = kNoValue;     // of the axis that it works along, where that is its own
};

// Whether rewrite_open has to see the operator.
bool reads_open(const OpenAxes& open, const Graph& graph, const Op& op,
                const std::vector<ValueId>& inputs);

// `op` and `inputs` become what is to be added, unless values stand for it. Errors: unsupported;
// what the operator's own rule refuses, whatever the open sizes are.
Result<Rewritten> rewrite_open(Op& op, std::vector<ValueId>& inputs, OpenAxes& open,
                               const Graph& graph, Steps& steps);

// The shape of `v` as each run tells it: int64 [rank].
ValueId actual_shape(ValueId v, OpenAxes& open, const Graph& graph, Steps& steps);

}  // namespace enginery
