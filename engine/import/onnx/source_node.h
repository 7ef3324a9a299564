// A node of an ONNX file in plain C++: what readers see of it, so that they need no protobuf
// header.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "engine/tensor/tensor.h"

namespace enginery {

// Any size beyond this is an error of the file: no layer of ours indexes a dimension with more than
// 31 bits.
inline constexpr int64_t kMaxSize = INT32_MAX;

// An attribute of a kind that no reader takes: a subgraph, a sequence, a string tensor.
struct UnreadableAttribute {
  std::string reason;
};

using AttributeValue =
    std::variant<int64_t, float, std::string, std::vector<int64_t>, std::vector<float>,
                 std::vector<std::string>, Tensor, UnreadableAttribute>;

struct SourceNode {
  std::string name, op_type, domain;
  std::vector<std::string> inputs, outputs;  // empty where an optional one is absent
  std::map<std::string, AttributeValue> attributes;
};

// "axis=1 pads=[0,0] value=float32[3]": for messages, cut to a readable length.
std::string attributes_text(const SourceNode& node);
// Its name, or where it has none its first output's.
std::string shown_name(const SourceNode& node);
// The node as messages name it: "node 'conv_12' (Conv)".
std::string node_text(const SourceNode& node);
// `name` with control characters replaced and cut, so that a hostile file cannot garble a terminal
// or a log.
std::string printable(const std::string& name);

}  // namespace enginery
