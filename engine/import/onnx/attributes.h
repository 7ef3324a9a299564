// NodeProto -> SourceNode: a node's names and attributes in plain C++.
#pragma once

#include "engine/import/onnx/source_node.h"
#include "engine/import/onnx/weights.h"

namespace onnx {
class NodeProto;
}

namespace enginery {

// Errors: invalid_argument (an attribute twice, without a value, or a tensor that does not add up;
// names that are not printable UTF-8). Attributes of kinds that no reader takes come as
// UnreadableAttribute.
Result<SourceNode> to_source_node(const onnx::NodeProto& proto, WeightReader& weights);

// Names reach logs, JSON and files: UTF-8 without control characters, at most 4096 bytes.
Status check_name(const std::string& name);

}  // namespace enginery
