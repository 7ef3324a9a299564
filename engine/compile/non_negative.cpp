#include "engine/compile/non_negative.h"

#include <algorithm>

namespace enginery {
namespace {

// What an operator's result is, by what its inputs are.
enum class Sign { unknown, non_negative, as_first_input, as_all_inputs };

Sign sign_of(const Activation& op) {
  switch (op.kind) {
    case ActivationKind::relu:
    case ActivationKind::sigmoid:
    case ActivationKind::hard_sigmoid:
    case ActivationKind::softplus:
      return Sign::non_negative;
    case ActivationKind::clip:
    case ActivationKind::thresholded_relu:
      return op.alpha >= 0 ? Sign::non_negative : Sign::unknown;
    default:
      return Sign::unknown;
  }
}

Sign sign_of(const Softmax& op) {
  return op.log ? Sign::unknown : Sign::non_negative;
}

Sign sign_of(const Binary& op) {
  const bool keeps = op.kind == BinaryKind::add || op.kind == BinaryKind::mul ||
                     op.kind == BinaryKind::min || op.kind == BinaryKind::max;
  return keeps ? Sign::as_all_inputs : Sign::unknown;
}

Sign sign_of(const Resize& op) {
  const bool weighs = op.mode != ResizeMode::cubic && op.extrapolation >= 0;
  return weighs ? Sign::as_first_input : Sign::unknown;
}

Sign sign_of(const Concat&) {
  return Sign::as_all_inputs;
}
template <typename T>
concept KeepsElements =
    std::is_same_v<T, Pooling> || std::is_same_v<T, GlobalPooling> || std::is_same_v<T, Reshape> ||
    std::is_same_v<T, Transpose> || std::is_same_v<T, Flatten> || std::is_same_v<T, Squeeze> ||
    std::is_same_v<T, Unsqueeze> || std::is_same_v<T, Expand> || std::is_same_v<T, Identity> ||
    std::is_same_v<T, Split> || std::is_same_v<T, Slice> || std::is_same_v<T, Gather> ||
    std::is_same_v<T, Tile>;
template <KeepsElements T>
Sign sign_of(const T&) {
  return Sign::as_first_input;
}
template <typename T>
Sign sign_of(const T&) {
  return Sign::unknown;
}

bool holds_no_negative(const Tensor& tensor) {
  if (tensor.type() != DataType::float32) return false;
  return std::ranges::all_of(tensor.data<float>(), [](float x) { return x >= 0; });
}

}  // namespace

std::vector<bool> non_negative_values(const Graph& graph) {
  std::vector<bool> out(static_cast<size_t>(graph.value_count()), false);
  const auto is_non_negative = [&](ValueId v) {
    if (v == kNoValue) return false;
    const Tensor* constant = graph.constant(v);
    return constant ? holds_no_negative(*constant) : bool(out[static_cast<size_t>(v)]);
  };
  for (const NodeId id : graph.topological_order()) {
    const Node& node = graph.node(id);
    const Sign sign = std::visit([](const auto& op) { return sign_of(op); }, node.op);
    bool result = sign == Sign::non_negative;
    if (sign == Sign::as_first_input) result = is_non_negative(node.inputs[0]);
    if (sign == Sign::as_all_inputs) result = std::ranges::all_of(node.inputs, is_non_negative);
    for (const ValueId v : node.outputs) out[static_cast<size_t>(v)] = result;
  }
  return out;
}

}  // namespace enginery
