#include "engine/passes/fold_batch_norm.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "engine/passes/affine.h"
#include "engine/passes/pattern_matcher.h"

namespace enginery {
namespace {

// The dimension of the weights that counts output channels, and how many of them one index of it
// stands for.
struct WeightAxis {
  size_t axis = 0;
  int64_t groups =
      1;  // deconvolution: w is [C, K/groups, ...], channel k = group * (K/groups) + index
};

std::optional<WeightAxis> weight_axis(const Graph& graph, const Node& node) {
  if (std::holds_alternative<Convolution>(node.op)) return WeightAxis{0, 1};
  if (const auto* op = std::get_if<Deconvolution>(&node.op)) return WeightAxis{1, op->groups};
  if (const auto* op = std::get_if<Gemm>(&node.op)) {
    if (op->alpha != 1 || op->beta != 1) return std::nullopt;
    return WeightAxis{op->transpose_b ? size_t{0} : size_t{1}, 1};
  }
  if (std::holds_alternative<MatMul>(node.op) && graph.value(node.inputs[1]).type.dims.size() == 2)
    return WeightAxis{1, 1};
  return std::nullopt;
}

Tensor scale_weights(const Tensor& w, const WeightAxis& where, const std::vector<float>& scale) {
  Tensor out = convert(w, DataType::float32);
  const auto data = out.mutable_data<float>();
  const int64_t inner = strides_of(w.dims())[where.axis], size = w.dims()[where.axis];
  const int64_t outer = w.size() / std::max<int64_t>(inner * size, 1);
  const int64_t inputs_a_group = std::max<int64_t>(outer / where.groups, 1);
  for (int64_t o = 0; o < outer; ++o) {
    const int64_t first_channel = where.groups == 1 ? 0 : (o / inputs_a_group) * size;
    for (int64_t k = 0; k < size; ++k) {
      float* row = data.data() + (o * size + k) * inner;
      for (int64_t i = 0; i < inner; ++i) row[i] *= scale[static_cast<size_t>(first_channel + k)];
    }
  }
  return out;
}

// The bias of the producer as one float a channel; nothing when it is not a constant of that form.
std::optional<std::vector<float>> bias_of(const Graph& graph, const Node& node, size_t channels) {
  if (!has_input(node, 2)) return std::vector<float>(channels, 0);
  const Tensor* b = graph.constant(node.inputs[2]);
  if (!b || !is_floating(b->type())) return std::nullopt;
  if (b->size() == 1) return std::vector<float>(channels, floats_of(*b)[0]);
  const bool vector = b->size() == static_cast<int64_t>(channels) && b->dims().back() == b->size();
  return vector ? std::optional(floats_of(*b)) : std::nullopt;
}

bool has_nonzero_point(const Graph& graph, const Node& dequantize) {
  if (!has_input(dequantize, 2)) return false;
  const Tensor* zero = graph.constant(dequantize.inputs[2]);
  return !zero || std::ranges::any_of(to_int64s(*zero), [](int64_t z) { return z != 0; });
}

// Weights in 8 bits as a Dequantize by constants makes them: one scale for each output channel, or
// one for all, and no zero point. Null for others.
const Node* dequantized_weights(const Graph& graph, ValueId w, const WeightAxis& where) {
  const NodeId by = graph.value(w).producer;
  const auto* op = by == kNoNode ? nullptr : std::get_if<Dequantize>(&graph.node(by).op);
  if (!op || op->block_size != 0 || where.groups != 1) return nullptr;
  const Node& node = graph.node(by);
  const Tensor *elements = graph.constant(node.inputs[0]), *scale = graph.constant(node.inputs[1]);
  if (!elements || elements->type() != DataType::int8 || !scale || has_nonzero_point(graph, node))
    return nullptr;
  const int64_t rank = elements->rank(), axis = op->axis < 0 ? op->axis + rank : op->axis;
  const bool by_channel =
      axis == static_cast<int64_t>(where.axis) && scale->size() == elements->dims()[where.axis];
  return is_floating(scale->type()) && (scale->size() == 1 || by_channel) ? &node : nullptr;
}

// A channel's integers are as they were, or all negated, or all 0: its scale takes the factor in.
struct ScaledIntegers {
  Tensor elements, scales;
};
// Nothing where -128 would be negated.
std::optional<ScaledIntegers> scale_integers(const Tensor& w, const Tensor& scales, size_t axis,
                                             const std::vector<float>& factors) {
  std::vector<float> steps = floats_of(scales);
  steps.resize(factors.size(), steps[0]);
  Tensor elements(DataType::int8, w.dims());
  const auto from = w.data<int8_t>();
  const auto to = elements.mutable_data<int8_t>();
  const auto inner = static_cast<size_t>(strides_of(w.dims())[axis]);
  for (size_t i = 0; i < from.size(); ++i) {
    const size_t k = i / inner % factors.size();
    const float step = steps[k] * factors[k];
    if (step < 0 && from[i] == INT8_MIN) return std::nullopt;
    to[i] = step == 0 ? int8_t{0} : static_cast<int8_t>(step < 0 ? -from[i] : from[i]);
  }
  for (size_t k = 0; k < factors.size(); ++k) {
    const float step = std::abs(steps[k] * factors[k]);
    steps[k] = step == 0 ? 1 : step;
  }
  return ScaledIntegers{std::move(elements), Tensor::of<float>({static_cast<int64_t>(steps.size())},
                                                               std::span<const float>(steps))};
}

// The value `w`, which `where` describes, times the scale of each channel; kNoValue where its form
// does not allow it.
ValueId scaled_weights(Graph& graph, ValueId w, const WeightAxis& where,
                       const std::vector<float>& scale) {
  const std::string name = graph.value(w).name + ".folded";
  const Tensor* in_float = graph.constant(w);
  if (in_float)
    return in_float->type() == DataType::float32
               ? graph.add_constant(name, scale_weights(*in_float, where, scale))
               : kNoValue;
  const Node* node = dequantized_weights(graph, w, where);
  if (!node) return kNoValue;
  auto integers = scale_integers(*graph.constant(node->inputs[0]), *graph.constant(node->inputs[1]),
                                 where.axis, scale);
  if (!integers) return kNoValue;
  const ValueId elements = graph.add_constant(name + ".elements", std::move(integers->elements));
  const ValueId scales = graph.add_constant(name + ".scales", std::move(integers->scales));
  const auto made =
      graph.add_node(name, Dequantize{static_cast<int64_t>(where.axis)}, {elements, scales});
  ENSURE(made.ok(), "integers take a scale for each channel");
  return (*made)[0];
}

// Folds `affine` into the weights and bias of `producer`. False when its form does not allow it.
bool fold_into(Graph& graph, NodeId producer, const WeightAxis& where, const Affine& affine) {
  const Node& node = graph.node(producer);
  const ValueId w = node.inputs[1];
  const bool has_bias = has_input(node, 2);
  const bool takes_bias = !std::holds_alternative<MatMul>(node.op);
  auto bias = bias_of(graph, node, affine.scale.size());
  const bool known = graph.constant(w) ? graph.constant(w)->type() == DataType::float32
                                       : dequantized_weights(graph, w, where) != nullptr;
  if (!known || !bias || !is_finite(affine)) return false;
  bool shifts = has_bias;
  for (const float s : affine.shift) shifts |= s != 0;
  if (shifts && !takes_bias)
    return false;  // a matrix product's bias is an epilogue step: vertical fusion takes it
  bool scales = false;
  for (const float s : affine.scale) scales |= s != 1;
  if (scales) {
    const ValueId scaled = scaled_weights(graph, w, where, affine.scale);
    if (scaled == kNoValue) return false;
    graph.node(producer).inputs[1] = scaled;
  }
  if (!shifts) return true;
  for (size_t k = 0; k < bias->size(); ++k)
    (*bias)[k] = (*bias)[k] * affine.scale[k] + affine.shift[k];
  const ValueId folded = graph.add_constant(
      graph.node(producer).name + ".bias",
      Tensor::of<float>({static_cast<int64_t>(bias->size())}, std::span<const float>(*bias)));
  graph.node(producer).inputs.resize(3, kNoValue);
  graph.node(producer).inputs[2] = folded;
  return true;
}

// `to` holds from now on what `from` did, under its name: it held something else before.
void take_place(Graph& graph, ValueId from, ValueId to, const std::vector<NodeId>& readers) {
  const bool renamed = graph.is_output(from);
  graph.replace_uses(from, to, readers);
  if (!renamed) std::swap(graph.value(from).name, graph.value(to).name);
}

bool fold_one(Graph& graph, NodeId id, std::vector<std::vector<NodeId>>& users) {
  const Node& node = graph.node(id);
  for (const ValueId x : node.inputs) {
    if (x == kNoValue || graph.constant(x)) continue;
    const NodeId producer = graph.value(x).producer;
    if (producer == kNoNode || users[static_cast<size_t>(x)].size() != 1 || graph.is_output(x))
      continue;
    const auto where = weight_axis(graph, graph.node(producer));
    if (!where || graph.value(x).type.type != DataType::float32) continue;
    const bool matrix = std::holds_alternative<MatMul>(graph.node(producer).op);
    const size_t axis = matrix ? graph.value(x).type.dims.size() - 1 : 1;
    if (axis >= graph.value(x).type.dims.size()) continue;
    const auto affine = as_affine(graph, node, x, axis);
    const ValueId result = node.outputs[0];  // folding may add a node
    if (!affine || !fold_into(graph, producer, *where, *affine)) continue;
    const std::vector<NodeId> readers = users[static_cast<size_t>(result)];
    take_place(graph, result, x, readers);
    users[static_cast<size_t>(x)] = readers;
    graph.erase_node(id);
    return true;
  }
  return false;
}

// A batch norm that nothing takes in: x * s + t, which element-wise kernels know.
bool decompose(Graph& graph, NodeId id, std::vector<std::vector<NodeId>>& users) {
  Node node = graph.node(id);
  const auto affine = batch_norm_affine(graph, node);
  const TensorType& type = graph.value(node.inputs[0]).type;
  if (!affine || !is_finite(*affine) || type.type != DataType::float32 || type.dims.size() < 2)
    return false;
  Dims dims(type.dims.size(), 1);
  dims[1] = static_cast<int64_t>(affine->scale.size());
  const ValueId scale = graph.add_constant(
      node.name + ".scale", Tensor::of<float>(dims, std::span<const float>(affine->scale)));
  const ValueId shift = graph.add_constant(
      node.name + ".shift", Tensor::of<float>(dims, std::span<const float>(affine->shift)));
  auto scaled =
      graph.add_node(node.name + ".scaled", Binary{BinaryKind::mul}, {node.inputs[0], scale});
  if (!scaled) return false;
  auto shifted =
      graph.add_node(node.name + ".shifted", Binary{BinaryKind::add}, {(*scaled)[0], shift});
  ENSURE(shifted.ok(), "a scaled tensor takes a shift of the same dims");
  const std::vector<NodeId> readers = users[static_cast<size_t>(node.outputs[0])];
  take_place(graph, node.outputs[0], (*shifted)[0], readers);
  graph.erase_node(id);
  const NodeId scaling = graph.value((*scaled)[0]).producer;
  const NodeId shifting = graph.value((*shifted)[0]).producer;
  std::ranges::replace(users[static_cast<size_t>(node.inputs[0])], id, scaling);
  users.resize(static_cast<size_t>(graph.value_count()));
  users[static_cast<size_t>(scale)] = {scaling};
  users[static_cast<size_t>((*scaled)[0])] = users[static_cast<size_t>(shift)] = {shifting};
  users[static_cast<size_t>((*shifted)[0])] = readers;
  return true;
}

}  // namespace

Result<int> fold_batch_norm(Graph& graph) {
  int changed = 0;
  auto users = graph.users();  // kept up to date but for new constants, which nobody asks for
  for (const NodeId id : graph.topological_order()) {
    const Op& op = graph.node(id).op;
    if (!std::holds_alternative<BatchNorm>(op) && !std::holds_alternative<Binary>(op)) continue;
    if (fold_one(graph, id, users)) {
      ++changed;
    } else if (std::holds_alternative<BatchNorm>(op) && decompose(graph, id, users)) {
      ++changed;
    }
  }
  return changed;
}

}  // namespace enginery
