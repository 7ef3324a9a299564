// NodeProto -> SourceNode: a node's names and attributes in plain C++.
#pragma once

#include "engine/import/onnx/source_node.h"
#include "engine/import/onnx/weights.h"

namespace onnx {
class AttributeProto;
class NodeProto;
}  // namespace onnx

namespace enginery {

// `bound` are the attributes of the call whose function holds the node, null outside of functions:
// an attribute that refers to one of them gets its value, or is left out where the call has none.
// Errors: invalid_argument (an attribute twice, without a value, or a tensor that does not add up;
// names that are not printable UTF-8). Attributes of kinds that no reader takes come as
// UnreadableAttribute.
Result<SourceNode> to_source_node(const onnx::NodeProto& proto, WeightReader& weights,
                                  const std::map<std::string, AttributeValue>* bound = nullptr);

// One attribute that refers to nothing. Errors: as above.
Result<AttributeValue> to_attribute_value(const onnx::AttributeProto& proto, WeightReader& weights);

// Names reach logs, JSON and files: UTF-8 without control characters, at most 4096 bytes.
Status check_name(const std::string& name);

}  // namespace enginery
