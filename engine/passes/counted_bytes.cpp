#include "engine/passes/counted_bytes.h"

#include <cmath>

namespace enginery {
namespace {

constexpr int kMostFactors = 4;

std::optional<float> known_number(const Graph& graph, ValueId v) {
  const Tensor* t = v == kNoValue ? nullptr : graph.constant(v);
  if (!t || t->size() != 1 || t->type() != DataType::float32) return {};
  return t->data<float>()[0];
}

bool are_bytes(const Graph& graph, ValueId v) {
  return is_eight_bits(graph.value(v).type.type) && !graph.constant(v);
}

std::optional<CountedBytes> dequantized_bytes(const Graph& graph, const Node& node) {
  const auto step = known_number(graph, node.inputs[1]);
  if (!step || std::get<Dequantize>(node.op).block_size != 0) return {};
  CountedBytes out{node.inputs[0], *step, 0};
  if (node.inputs.size() < 3 || node.inputs[2] == kNoValue) return out;
  const Tensor* zero = graph.constant(node.inputs[2]);
  if (!zero || zero->size() != 1) return {};
  out.zero = to_int64s(*zero)[0];
  return out;
}

// Which operand the node multiplies by a number or divides by one, and by what in effect.
struct ScaledOperand {
  ValueId value = kNoValue;
  float factor = 1;
};

std::optional<ScaledOperand> scaled_operand(const Graph& graph, const Node& node) {
  const auto* op = std::get_if<Binary>(&node.op);
  const bool divides = op && op->kind == BinaryKind::div;
  if (!op || (op->kind != BinaryKind::mul && !divides)) return {};
  for (const size_t at : {0, 1}) {
    const auto number = known_number(graph, node.inputs[1 - at]);
    const ValueId value = node.inputs[at];
    if (number && !(divides && at == 1) &&
        graph.value(value).type == graph.value(node.outputs[0]).type)
      return ScaledOperand{value, divides ? 1 / *number : *number};
  }
  return {};
}

}  // namespace

std::optional<CountedBytes> counted_bytes(const Graph& graph, ValueId value) {
  float factor = 1;
  for (int factors = 0; factors <= kMostFactors; ++factors) {
    const NodeId by = graph.value(value).producer;
    if (by == kNoNode || graph.value(value).type.type != DataType::float32) return {};
    const Node& node = graph.node(by);
    if (const auto inner = scaled_operand(graph, node)) {
      value = inner->value;
      factor *= inner->factor;
      continue;
    }
    std::optional<CountedBytes> out;
    if (std::holds_alternative<Cast>(node.op))
      out = CountedBytes{node.inputs[0], 1, 0};
    else if (std::holds_alternative<Dequantize>(node.op))
      out = dequantized_bytes(graph, node);
    if (!out || !are_bytes(graph, out->bytes)) return {};
    out->step *= factor;
    return std::isnormal(out->step) && out->step > 0 ? out : std::nullopt;
  }
  return {};
}

}  // namespace enginery
