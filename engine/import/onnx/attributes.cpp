#include "engine/import/onnx/attributes.h"

#include <onnx/onnx_pb.h>

namespace enginery {
namespace {

constexpr size_t kMaxName = 4096;

// Bytes of the UTF-8 sequence that begins with `first`; 0 when none does.
size_t sequence_length(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) return 2;
  if (first >= 0xe0 && first < 0xf0) return 3;
  return first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

bool is_clean(const std::string& name) {
  for (size_t i = 0; i < name.size();) {
    const auto byte = static_cast<unsigned char>(name[i]);
    size_t n = sequence_length(byte);
    if (byte < 0x20 || byte == 0x7f || n == 0 || i + n > name.size()) return false;
    uint32_t code = n == 1 ? byte : byte & (0x7fu >> n);
    for (size_t k = 1; k < n; ++k) {
      const auto next = static_cast<unsigned char>(name[i + k]);
      if ((next & 0xc0) != 0x80) return false;
      code = code << 6 | (next & 0x3fu);
    }
    const bool overlong = (n == 3 && code < 0x800) || (n == 4 && code < 0x10000);
    if (overlong || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return false;
    i += n;
  }
  return true;
}

using Type = onnx::AttributeProto;

// Files of IR version 1 do not say which field holds the value.
int kind_of(const onnx::AttributeProto& a) {
  if (a.type() != Type::UNDEFINED) return a.type();
  if (a.has_f()) return Type::FLOAT;
  if (a.has_i()) return Type::INT;
  if (a.has_s()) return Type::STRING;
  if (a.has_t()) return Type::TENSOR;
  if (a.floats_size() > 0) return Type::FLOATS;
  if (a.strings_size() > 0) return Type::STRINGS;
  return a.has_g() || a.graphs_size() > 0 ? Type::GRAPH : Type::INTS;
}

// A tensor of a type that we do not have makes the attribute unreadable, not the file wrong.
Result<AttributeValue> or_unreadable(Result<Tensor> tensor) {
  if (tensor.ok()) return AttributeValue(std::move(*tensor));
  if (tensor.error().code != ErrorCode::unsupported) return tensor.error();
  return AttributeValue(UnreadableAttribute{tensor.error().message});
}

}  // namespace

Result<AttributeValue> to_attribute_value(const onnx::AttributeProto& a, WeightReader& weights) {
  if (!a.ref_attr_name().empty())
    return AttributeValue(UnreadableAttribute{"it refers to a function's attribute"});
  switch (kind_of(a)) {
    case Type::FLOAT:
      return AttributeValue(a.f());
    case Type::INT:
      return AttributeValue(static_cast<int64_t>(a.i()));
    case Type::STRING:
      return AttributeValue(a.s());
    case Type::FLOATS:
      return AttributeValue(std::vector<float>(a.floats().begin(), a.floats().end()));
    case Type::INTS:
      return AttributeValue(std::vector<int64_t>(a.ints().begin(), a.ints().end()));
    case Type::STRINGS:
      return AttributeValue(std::vector<std::string>(a.strings().begin(), a.strings().end()));
    case Type::TENSOR:
      return or_unreadable(weights.read(a.t()));
    case Type::SPARSE_TENSOR:
      return or_unreadable(weights.read(a.sparse_tensor()));
    case Type::GRAPH:
    case Type::GRAPHS:
      return AttributeValue(UnreadableAttribute{"a subgraph"});
    default:
      return AttributeValue(UnreadableAttribute{"a value of kind " + std::to_string(a.type())});
  }
}

Status check_name(const std::string& name) {
  if (name.size() <= kMaxName && is_clean(name)) return {};
  return Error{ErrorCode::invalid_argument,
               "the name '" + printable(name) + "' is too long or not printable UTF-8"};
}

Result<SourceNode> to_source_node(const onnx::NodeProto& proto, WeightReader& weights,
                                  const std::map<std::string, AttributeValue>* bound) {
  SourceNode node{proto.name(), proto.op_type(), proto.domain(), {}, {}, {}};
  node.inputs.assign(proto.input().begin(), proto.input().end());
  node.outputs.assign(proto.output().begin(), proto.output().end());
  for (const std::string* name : {&node.name, &node.op_type, &node.domain})
    CHECK_OK(check_name(*name));
  for (const std::string& name : node.outputs) CHECK_OK(check_name(name));
  for (const auto& attribute : proto.attribute()) {
    CHECK_OK(check_name(attribute.name()));
    const AttributeValue* referred = nullptr;
    if (bound && !attribute.ref_attr_name().empty()) {
      const auto found = bound->find(attribute.ref_attr_name());
      if (found == bound->end()) continue;
      referred = &found->second;
    }
    auto value =
        referred ? Result<AttributeValue>(*referred) : to_attribute_value(attribute, weights);
    if (!value) return value.error().within(node_text(node) + ": attribute " + attribute.name());
    if (!node.attributes.emplace(attribute.name(), std::move(*value)).second) {
      return Error{ErrorCode::invalid_argument,
                   node_text(node) + ": attribute " + attribute.name() + " is given twice"};
    }
  }
  return node;
}

}  // namespace enginery
