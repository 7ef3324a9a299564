#include "engine/passes/fold_into_next.h"

#include <algorithm>

#include "engine/passes/affine.h"
#include "engine/passes/pattern_matcher.h"

namespace enginery {
namespace {

// The weights of a convolution or product by what they multiply: `outputs` rows of `inputs` by
// `each` elements; row k begins with input channel first(k). Products lie the other way round.
struct WeightRows {
  int64_t outputs = 0, inputs = 0, each = 1, groups = 1;
  bool is_transposed = false;  // [inputs, outputs]

  size_t place(int64_t k, int64_t i, int64_t e) const {
    return static_cast<size_t>(is_transposed ? i * outputs + k : (k * inputs + i) * each + e);
  }
  size_t channel(int64_t k, int64_t i) const {
    return static_cast<size_t>(k / (outputs / groups) * inputs + i);
  }
};

bool pads(const Convolution& op) {
  const auto is_some = [](int64_t p) { return p != 0; };
  return std::ranges::any_of(op.pads_begin, is_some) || std::ranges::any_of(op.pads_end, is_some);
}

// Of a node that reads `x` as what its weights multiply.
std::optional<WeightRows> weight_rows(const Node& node, ValueId x, const Dims& w) {
  if (node.inputs[0] != x || std::ranges::count(node.inputs, x) != 1) return std::nullopt;
  if (const auto* op = std::get_if<Convolution>(&node.op)) {
    const int64_t each = volume(Dims(w.begin() + 2, w.end()));
    return WeightRows{w[0], w[1], each, op->groups};
  }
  if (const auto* op = std::get_if<Gemm>(&node.op)) {
    if (op->alpha != 1 || op->beta != 1 || op->transpose_a) return std::nullopt;
    if (op->transpose_b) return WeightRows{w[0], w[1]};
    return WeightRows{.outputs = w[1], .inputs = w[0], .is_transposed = true};
  }
  if (std::holds_alternative<MatMul>(node.op) && w.size() == 2)
    return WeightRows{.outputs = w[1], .inputs = w[0], .is_transposed = true};
  return std::nullopt;
}

bool is_zero(const std::vector<float>& values) {
  return std::ranges::all_of(values, [](float v) { return v == 0; });
}

// Whether the node has a place for a bias, and what is there is a vector of constants or nothing.
bool takes_bias(const Graph& graph, const Node& node, int64_t outputs) {
  if (std::holds_alternative<MatMul>(node.op)) return false;
  if (!has_input(node, 2)) return true;
  const Tensor* bias = graph.constant(node.inputs[2]);
  return bias && bias->type() == DataType::float32 && bias->dims() == Dims{outputs};
}

// The weights times the scales, and what the shifts add to each output.
struct Folded {
  Tensor weights;
  std::vector<float> bias;
};

Folded fold(const Tensor& weights, const WeightRows& rows, const Affine& affine) {
  Folded out{weights, {}};
  const auto w = out.weights.mutable_data<float>();
  for (int64_t k = 0; k < rows.outputs; ++k) {
    double sum = 0;
    for (int64_t i = 0; i < rows.inputs; ++i) {
      const size_t c = rows.channel(k, i);
      for (int64_t e = 0; e < rows.each; ++e) {
        float& weight = w[rows.place(k, i, e)];
        sum += static_cast<double>(weight) * static_cast<double>(affine.shift[c]);
        weight *= affine.scale[c];
      }
    }
    out.bias.push_back(static_cast<float>(sum));
  }
  return out;
}

// `reader` takes in what `affine` does to `from`, which it reads instead of `x`. False where its
// form does not allow it.
bool fold_into_reader(Graph& graph, NodeId reader, ValueId x, ValueId from, const Affine& affine) {
  Node& node = graph.node(reader);
  const Tensor* w = node.inputs.size() > 1 ? graph.constant(node.inputs[1]) : nullptr;
  if (!w || w->type() != DataType::float32) return false;
  const auto rows = weight_rows(node, x, w->dims());
  if (!rows || !is_finite(affine)) return false;
  const bool shifts = !is_zero(affine.shift);
  const auto* convolution = std::get_if<Convolution>(&node.op);
  if (shifts && ((convolution && pads(*convolution)) || !takes_bias(graph, node, rows->outputs)))
    return false;
  Folded folded = fold(*w, *rows, affine);
  if (has_input(node, 2) && shifts) {
    const std::vector<float> before = floats_of(*graph.constant(node.inputs[2]));
    std::ranges::transform(folded.bias, before, folded.bias.begin(), std::plus<>());
  }
  const std::string name = node.name;
  const ValueId weights = graph.add_constant(name + ".scaled", std::move(folded.weights));
  node.inputs[0] = from;
  node.inputs[1] = weights;
  if (!shifts) return true;
  node.inputs.resize(3, kNoValue);
  const ValueId bias = graph.add_constant(
      name + ".shifted", Tensor::of<float>({rows->outputs}, std::span<const float>(folded.bias)));
  node.inputs[2] = bias;
  return true;
}

bool fold_node(Graph& graph, Matcher& matcher, NodeId id) {
  const Node& node = graph.node(id);
  if (!std::holds_alternative<Binary>(node.op)) return false;
  const NodeId reader = matcher.only_reader(node);
  if (reader == kNoNode) return false;
  const ValueId y = node.outputs[0];
  const TensorType type = graph.value(y).type;
  if (type.type != DataType::float32 || type.dims.size() < 2) return false;
  const bool is_convolution = std::holds_alternative<Convolution>(graph.node(reader).op);
  const size_t axis = is_convolution ? 1 : type.dims.size() - 1;
  for (const ValueId x : node.inputs) {
    if (graph.constant(x)) continue;
    const auto affine = as_affine(graph, node, x, axis);
    const std::vector<ValueId> before = graph.node(reader).inputs;
    if (!affine || !fold_into_reader(graph, reader, y, x, *affine)) continue;
    matcher.rewired(reader, before, graph.node(reader).inputs);
    matcher.rewired(id, graph.node(id).inputs, {});
    graph.erase_node(id);
    return true;
  }
  return false;
}

}  // namespace

Result<int> fold_into_next(Graph& graph) {
  int changed = 0;
  Matcher matcher(graph);
  // Backwards: of a product and a sum the sum first.
  const std::vector<NodeId> order = graph.topological_order();
  for (size_t i = order.size(); i-- > 0;) changed += fold_node(graph, matcher, order[i]);
  return changed;
}

}  // namespace enginery
