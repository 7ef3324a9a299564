#include "engine/passes/pattern_matcher.h"

#include <algorithm>

namespace enginery {
namespace {

std::vector<float> float_values(const Tensor& t) {
  const Tensor wide = convert(t, DataType::float32);
  const auto data = wide.data<float>();
  return {data.begin(), data.end()};
}

}  // namespace

bool has_input(const Node& node, size_t input) {
  return node.inputs.size() > input && node.inputs[input] != kNoValue;
}

const Node* Matcher::producer(ValueId v) const {
  const NodeId id = v == kNoValue ? kNoNode : graph_.value(v).producer;
  return id == kNoNode ? nullptr : &graph_.node(id);
}

const Node* Matcher::private_producer(ValueId v) const {
  if (v == kNoValue || users_[static_cast<size_t>(v)].size() != 1 || graph_.is_output(v))
    return nullptr;
  return producer(v);
}

NodeId Matcher::only_reader(const Node& node) const {
  if (node.outputs.size() != 1 || graph_.is_output(node.outputs[0])) return kNoNode;
  const auto& readers = users_[static_cast<size_t>(node.outputs[0])];
  return readers.size() == 1 ? readers[0] : kNoNode;
}

std::optional<float> Matcher::scalar(ValueId v) const {
  const Tensor* t = graph_.constant(v);
  const bool fits = t && is_floating(t->type()) && t->type() != DataType::float64;
  if (!fits || t->size() != 1) return std::nullopt;
  return float_values(*t)[0];
}

std::optional<Matcher::WithScalar> Matcher::binary_with_scalar(const Node* node,
                                                               BinaryKind kind) const {
  const Binary* binary = node ? std::get_if<Binary>(&node->op) : nullptr;
  if (!binary || binary->kind != kind) return std::nullopt;
  if (auto s = scalar(node->inputs[1])) return WithScalar{node->inputs[0], *s};
  const bool commutes = kind == BinaryKind::add || kind == BinaryKind::mul;
  if (auto s = scalar(node->inputs[0]); s && commutes) return WithScalar{node->inputs[1], *s};
  return std::nullopt;
}

std::optional<Matcher::WithScalar> Matcher::power(const Node* node) const {
  const Binary* binary = node ? std::get_if<Binary>(&node->op) : nullptr;
  if (!binary || binary->kind != BinaryKind::pow) return std::nullopt;
  const Tensor* t = graph_.constant(node->inputs[1]);
  if (!t || t->size() != 1 || t->type() == DataType::float64) return std::nullopt;
  return WithScalar{node->inputs[0], float_values(*t)[0]};
}

const Activation* Matcher::activation(const Node* node, ActivationKind kind) const {
  const Activation* a = node ? std::get_if<Activation>(&node->op) : nullptr;
  return a && a->kind == kind ? a : nullptr;
}

void Matcher::rewired(NodeId id, const std::vector<ValueId>& before,
                      const std::vector<ValueId>& now) {
  for (const ValueId v : before) {
    if (v == kNoValue) continue;
    auto& readers = users_[static_cast<size_t>(v)];
    readers.erase(std::find(readers.begin(), readers.end(), id));
  }
  users_.resize(static_cast<size_t>(graph_.value_count()));
  for (const ValueId v : now) {
    if (v != kNoValue) users_[static_cast<size_t>(v)].push_back(id);
  }
}

std::optional<std::vector<float>> constant_per_channel(const Tensor* t, const Dims& dims,
                                                       size_t channel_axis) {
  if (!t || !is_floating(t->type()) || dims[channel_axis] < 0) return std::nullopt;
  const size_t channels = static_cast<size_t>(dims[channel_axis]);
  if (t->size() == 1) {
    // One number would also raise the rank of a smaller tensor: broadcasting must leave dims as
    // they are.
    if (t->dims().size() > dims.size()) return std::nullopt;
    return std::vector<float>(channels, float_values(*t)[0]);
  }
  const size_t rank = t->dims().size();
  if (rank > dims.size() || t->size() != static_cast<int64_t>(channels)) return std::nullopt;
  for (size_t i = 0; i < rank; ++i) {
    const size_t axis = dims.size() - rank + i;
    if (t->dims()[i] != 1 && axis != channel_axis) return std::nullopt;
  }
  return float_values(*t);
}

}  // namespace enginery
