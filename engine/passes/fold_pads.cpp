#include "engine/passes/fold_pads.h"

#include <algorithm>
#include <limits>

#include "engine/passes/pattern_matcher.h"

namespace enginery {
namespace {

// What a Pad puts around the dimensions behind the second.
struct Border {
  ValueId x = kNoValue;
  std::vector<int64_t> begin, end;
  double value = 0;
};

// The number that it pads with; nothing where that is not known.
std::optional<double> value_of(const Graph& graph, const Node& node) {
  if (!has_input(node, 2)) return 0;
  const Tensor* value = graph.constant(node.inputs[2]);
  if (!value || value->size() != 1) return std::nullopt;
  return convert(*value, DataType::float64).data<double>()[0];
}

std::optional<Border> border_of(const Graph& graph, const Node* node) {
  const Pad* pad = node ? std::get_if<Pad>(&node->op) : nullptr;
  if (!pad || pad->mode != PadMode::constant) return std::nullopt;
  const TensorType& type = graph.value(node->inputs[0]).type;
  const size_t rank = type.dims.size();
  if (rank < 3 || !is_floating(type.type)) return std::nullopt;
  const auto amounts = pad_amounts(graph, *node, rank);
  const auto value = value_of(graph, *node);
  if (!amounts || !value) return std::nullopt;
  const auto moves = [&](size_t i) { return (*amounts)[i] != 0; };
  if (moves(0) || moves(1) || moves(rank) || moves(rank + 1)) return std::nullopt;
  if (std::ranges::any_of(*amounts, [](int64_t p) { return p < 0; })) return std::nullopt;
  const auto middle = amounts->begin() + static_cast<std::ptrdiff_t>(rank);
  return Border{
      node->inputs[0], {amounts->begin() + 2, middle}, {middle + 2, amounts->end()}, *value};
}

bool all_zero(const std::vector<int64_t>& pads) {
  return std::ranges::all_of(pads, [](int64_t p) { return p == 0; });
}

// Whether no element of `v` can be negative.
bool is_never_negative(const Matcher& m, ValueId v) {
  const Node* node = m.producer(v);
  const Activation* a = node ? std::get_if<Activation>(&node->op) : nullptr;
  if (!a) return false;
  return a->kind == ActivationKind::relu || a->kind == ActivationKind::sigmoid ||
         (a->kind == ActivationKind::clip && a->alpha >= 0);
}

// The paddings of `op` and of the border before it; false, with `op` as it was, where one would
// reach as far as `extents`, so that a window may have nothing but padding.
template <typename T>
bool add_border(const Border& border, const std::vector<int64_t>& extents, T& op) {
  std::vector<int64_t> begin = op.pads_begin, end = op.pads_end;
  for (size_t d = 0; d < begin.size(); ++d) {
    begin[d] += border.begin[d];
    end[d] += border.end[d];
    if (begin[d] >= extents[d] || end[d] >= extents[d]) return false;
  }
  op.pads_begin = std::move(begin);
  op.pads_end = std::move(end);
  return true;
}

bool joins(const Graph& graph, const Node& node, const Border& border, Convolution& op) {
  const Dims& w = graph.value(node.inputs[1]).type.dims;
  if (border.value != 0 || !is_static(w)) return false;
  std::vector<int64_t> extents;
  for (size_t d = 0; d < op.dilations.size(); ++d)
    extents.push_back((w[d + 2] - 1) * op.dilations[d] + 1);
  return add_border(border, extents, op);
}

// Windows that begin in a border are dropped where sizes are rounded up, and an average counts its
// own padding or the border's elements, not one of them.
bool joins(const Matcher& m, const Node& node, const Border& border, Pooling& op) {
  const bool is_dilated = std::ranges::any_of(op.dilations, [](int64_t d) { return d != 1; });
  if (op.ceil_mode || node.outputs.size() != 1 || is_dilated) return false;
  if (op.kind == PoolKind::max) {
    const bool is_least = border.value == -std::numeric_limits<double>::infinity();
    if (!is_least && !(border.value == 0 && is_never_negative(m, border.x))) return false;
  } else {
    const bool pads_itself = !all_zero(op.pads_begin) || !all_zero(op.pads_end);
    if (border.value != 0 || (pads_itself && !op.count_padding)) return false;
    op.count_padding = true;
  }
  return add_border(border, op.kernel, op);
}

bool fold_at(Graph& graph, Matcher& matcher, NodeId id) {
  Node& node = graph.node(id);
  const auto border = border_of(graph, matcher.producer(node.inputs[0]));
  if (!border) return false;
  Op joined = node.op;
  if (auto* convolution = std::get_if<Convolution>(&joined)) {
    if (!joins(graph, node, *border, *convolution)) return false;
  } else if (!joins(matcher, node, *border, std::get<Pooling>(joined))) {
    return false;
  }
  std::vector<ValueId> inputs = node.inputs;
  inputs[0] = border->x;
  matcher.rewired(id, node.inputs, inputs);
  node.op = std::move(joined);
  node.inputs = std::move(inputs);
  return true;
}

}  // namespace

std::optional<std::vector<int64_t>> pad_amounts(const Graph& graph, const Node& pad, size_t rank) {
  const Tensor* given = pad.inputs.size() > 1 ? graph.constant(pad.inputs[1]) : nullptr;
  if (!given) return std::nullopt;
  std::vector<int64_t> out(2 * rank, 0), axes;
  const std::vector<int64_t> amounts = to_int64s(*given);
  for (size_t d = 0; d < rank; ++d) axes.push_back(static_cast<int64_t>(d));
  if (has_input(pad, 3)) {
    const Tensor* named = graph.constant(pad.inputs[3]);
    if (!named) return std::nullopt;
    axes = to_int64s(*named);
  }
  if (amounts.size() != 2 * axes.size()) return std::nullopt;
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<size_t>(axes[i] < 0 ? axes[i] + std::ssize(out) / 2 : axes[i]);
    out[axis] = amounts[i];
    out[rank + axis] = amounts[axes.size() + i];
  }
  return out;
}

Result<int> fold_pads(Graph& graph) {
  int changed = 0;
  Matcher matcher(graph);
  for (const NodeId id : graph.topological_order()) {
    const Op& op = graph.node(id).op;
    if (!std::holds_alternative<Convolution>(op) && !std::holds_alternative<Pooling>(op)) continue;
    while (fold_at(graph, matcher, id)) ++changed;
  }
  return changed;
}

}  // namespace enginery
