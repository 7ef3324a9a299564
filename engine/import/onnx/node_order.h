// The order in which an ONNX file's nodes can be read. The standard asks for sorted nodes; not
// every exporter obeys.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/result.h"

namespace onnx {
class GraphProto;
}

namespace enginery {

// Indices of the graph's nodes, producers first, file order where that is free.
// Errors: invalid_argument (a value made twice or also an input, a cycle; the message names a
// node).
Result<std::vector<int>> node_order(const onnx::GraphProto& graph);

}  // namespace enginery
