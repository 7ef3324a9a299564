// The order in which an ONNX file's nodes can be read. The standard asks for sorted nodes; not
// every exporter obeys.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/result.h"

namespace onnx {
class GraphProto;
class NodeProto;
}  // namespace onnx

namespace enginery {

// Indices of the graph's nodes, producers first, file order where that is free.
// Errors: invalid_argument (a value made twice or also an input, a cycle; the message names a
// node).
Result<std::vector<int>> node_order(const onnx::GraphProto& graph);

// The names that the node's subgraphs read from outside of themselves: inputs of the node, though
// it does not list them.
std::vector<std::string> captured_names(const onnx::NodeProto& node);

}  // namespace enginery
