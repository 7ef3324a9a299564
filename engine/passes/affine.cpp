#include "engine/passes/affine.h"

#include <cmath>

#include "engine/passes/pattern_matcher.h"

namespace enginery {

std::vector<float> floats_of(const Tensor& t) {
  const Tensor f = convert(t, DataType::float32);
  const auto data = f.data<float>();
  return {data.begin(), data.end()};
}

std::optional<Affine> batch_norm_affine(const Graph& graph, const Node& node) {
  const Tensor* parts[4];
  for (size_t i = 0; i < 4; ++i) {
    parts[i] = graph.constant(node.inputs[i + 1]);
    if (!parts[i]) return std::nullopt;
  }
  auto scale = floats_of(*parts[0]), bias = floats_of(*parts[1]), mean = floats_of(*parts[2]),
       variance = floats_of(*parts[3]);
  const float epsilon = std::get<BatchNorm>(node.op).epsilon;
  Affine out;
  for (size_t k = 0; k < scale.size(); ++k) {
    const double v = static_cast<double>(variance[k]) + epsilon;
    if (!(v > 0))
      return std::nullopt;  // the reference would give NaN or infinity: leave it to say so
    const double s = scale[k] / std::sqrt(v);
    out.scale.push_back(static_cast<float>(s));
    out.shift.push_back(static_cast<float>(bias[k] - mean[k] * s));
  }
  return out;
}

std::optional<Affine> as_affine(const Graph& graph, const Node& node, ValueId x,
                                size_t channel_axis) {
  if (std::holds_alternative<BatchNorm>(node.op)) {
    return node.inputs[0] == x && channel_axis == 1 ? batch_norm_affine(graph, node) : std::nullopt;
  }
  const auto* binary = std::get_if<Binary>(&node.op);
  if (!binary) return std::nullopt;
  const Dims& dims = graph.value(x).type.dims;
  if (graph.value(node.outputs[0]).type.dims != dims) return std::nullopt;
  const bool left = node.inputs[0] == x;
  auto c = constant_per_channel(graph.constant(node.inputs[left ? 1 : 0]), dims, channel_axis);
  if (!c) return std::nullopt;
  const size_t n = c->size();
  switch (binary->kind) {
    case BinaryKind::mul:
      return Affine{*c, std::vector<float>(n, 0)};
    case BinaryKind::add:
      return Affine{std::vector<float>(n, 1), *c};
    case BinaryKind::sub: {
      if (!left) return std::nullopt;
      for (float& v : *c) v = -v;
      return Affine{std::vector<float>(n, 1), *c};
    }
    case BinaryKind::div: {
      if (!left) return std::nullopt;
      for (float& v : *c) v = 1 / v;
      return Affine{*c, std::vector<float>(n, 0)};
    }
    default:
      return std::nullopt;
  }
}

bool is_finite(const Affine& affine) {
  for (size_t k = 0; k < affine.scale.size(); ++k) {
    if (!std::isfinite(affine.scale[k]) || !std::isfinite(affine.shift[k])) return false;
  }
  return true;
}

}  // namespace enginery
