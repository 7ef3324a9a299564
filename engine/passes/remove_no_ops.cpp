#include "engine/passes/remove_no_ops.h"

#include <algorithm>

#include "engine/ops/element_order.h"
#include "engine/passes/pattern_matcher.h"
#include "engine/passes/permutation.h"

namespace enginery {
namespace {

bool pads_nothing(const Graph& graph, const Node& node) {
  const Tensor* pads = node.inputs.size() > 1 ? graph.constant(node.inputs[1]) : nullptr;
  if (!pads) return false;
  const auto values = to_int64s(*pads);
  return std::all_of(values.begin(), values.end(), [](int64_t p) { return p == 0; });
}

bool is_all(const Tensor* t, double number) {
  if (!t || t->type() == DataType::boolean) return false;
  const auto is_number = [&](double v) { return v == number; };
  if (t->type() == DataType::float32) return std::ranges::all_of(t->data<float>(), is_number);
  const Tensor wide = convert(*t, DataType::float64);
  return std::ranges::all_of(wide.data<double>(), is_number);
}

// Sizes that the input has already, or scales of one: a scale that is only rounded to them moves
// the samples.
bool resizes_nothing(const Graph& graph, const Node& node) {
  if (std::get<Resize>(node.op).coordinates == ResizeCoordinates::crop) return false;
  if (!has_input(node, 1)) return true;
  const Tensor* scales = graph.constant(node.inputs[1]);
  return scales && is_all(scales, 1);
}

bool keeps_order(const Transpose& op, const Dims& dims) {
  // A transpose that moves only dimensions of size 1 keeps every element at its place.
  int64_t last = -1;
  for (const int64_t from : written_out(op.permutation, dims.size())) {
    if (dims[static_cast<size_t>(from)] == 1) continue;
    if (from < last) return false;
    last = from;
  }
  return true;
}

// Of `kind`, the number that leaves the other operand as it is.
std::optional<double> neutral(BinaryKind kind) {
  switch (kind) {
    case BinaryKind::add:
    case BinaryKind::sub:
      return 0;
    case BinaryKind::mul:
    case BinaryKind::div:
    case BinaryKind::pow:
      return 1;
    default:
      return std::nullopt;
  }
}

// x + 0, x - 0, x * 1, x / 1, x ^ 1: which input x is; nothing.
std::optional<size_t> beside_neutral(const Graph& graph, const Node& node) {
  const auto* binary = std::get_if<Binary>(&node.op);
  const auto number = binary ? neutral(binary->kind) : std::nullopt;
  if (!number) return std::nullopt;
  if (is_all(graph.constant(node.inputs[1]), *number)) return 0;
  const bool commutes = binary->kind == BinaryKind::add || binary->kind == BinaryKind::mul;
  if (commutes && is_all(graph.constant(node.inputs[0]), *number)) return 1;
  return std::nullopt;
}

bool returns_its_first(const Graph& graph, const Node& node) {
  const TensorType& in = graph.value(node.inputs[0]).type;
  const TensorType& out = graph.value(node.outputs[0]).type;
  if (std::holds_alternative<Identity>(node.op)) return true;
  if (in != out || !is_static(in.dims)) return false;
  if (keeps_element_order(node.op) || std::holds_alternative<Expand>(node.op)) return true;
  if (std::holds_alternative<Cast>(node.op)) return true;
  if (std::holds_alternative<Concat>(node.op)) return node.inputs.size() == 1;
  if (std::holds_alternative<Pad>(node.op)) return pads_nothing(graph, node);
  if (std::holds_alternative<Resize>(node.op)) return resizes_nothing(graph, node);
  if (const auto* op = std::get_if<Transpose>(&node.op)) return keeps_order(*op, in.dims);
  return false;
}

// Of a choice that says the same of every element: which input it is.
std::optional<size_t> chosen_throughout(const Graph& graph, const Node& node) {
  const Tensor* choice = std::holds_alternative<Where>(node.op) && node.inputs[0] != kNoValue
                             ? graph.constant(node.inputs[0])
                             : nullptr;
  if (!choice || choice->size() == 0) return std::nullopt;
  const auto* values = static_cast<const uint8_t*>(choice->raw());
  const auto is_first = [&](uint8_t v) { return (v != 0) == (values[0] != 0); };
  if (!std::all_of(values, values + choice->size(), is_first)) return std::nullopt;
  return values[0] != 0 ? 1 : 2;
}

// The input that the node gives back; nothing.
std::optional<size_t> returned_input(const Graph& graph, const Node& node) {
  if (returns_its_first(graph, node)) return 0;
  const auto chosen = chosen_throughout(graph, node);
  const auto beside = chosen ? chosen : beside_neutral(graph, node);
  if (!beside) return std::nullopt;
  const TensorType& in = graph.value(node.inputs[*beside]).type;
  const bool keeps_type = in == graph.value(node.outputs[0]).type && is_static(in.dims);
  return keeps_type ? beside : std::nullopt;
}

// Whether every number of `from` is one of `to`.
bool holds_all(DataType from, DataType to) {
  if (from == DataType::boolean) return to != DataType::boolean;
  if (from == DataType::float16 || from == DataType::bfloat16)
    return to == DataType::float32 || to == DataType::float64;
  if (from == DataType::float32) return to == DataType::float64;
  const bool is_byte = from == DataType::int8 || from == DataType::uint8;
  if (is_byte)
    return to == DataType::int32 || to == DataType::int64 || to == DataType::float32 ||
           to == DataType::float64;
  return from == DataType::int32 && (to == DataType::int64 || to == DataType::float64);
}

// The value that a chain of two casts begins with, where the first lost nothing; kNoValue.
ValueId before_a_wider_cast(const Graph& graph, const Node& node) {
  if (!std::holds_alternative<Cast>(node.op)) return kNoValue;
  const Value& between = graph.value(node.inputs[0]);
  if (between.producer == kNoNode || !std::holds_alternative<Cast>(graph.node(between.producer).op))
    return kNoValue;
  const ValueId first = graph.node(between.producer).inputs[0];
  return holds_all(graph.value(first).type.type, between.type.type) ? first : kNoValue;
}

bool is_empty(const Graph& graph, ValueId v) {
  const Dims& dims = graph.value(v).type.dims;
  return is_static(dims) && volume(dims) == 0;
}

// Takes out of a Concat what has no elements, where something is left; whether there was any. A
// rotary embedding of whole heads joins what it turns and the rest, which is empty.
bool drop_empty_parts(Graph& graph, NodeId id, std::vector<std::vector<NodeId>>& users) {
  Node& node = graph.node(id);
  if (!std::holds_alternative<Concat>(node.op)) return false;
  std::vector<ValueId> kept;
  std::ranges::copy_if(node.inputs, std::back_inserter(kept),
                       [&](ValueId v) { return !is_empty(graph, v); });
  if (kept.empty() || kept.size() == node.inputs.size()) return false;
  for (const ValueId v : node.inputs)
    if (is_empty(graph, v)) std::erase(users[static_cast<size_t>(v)], id);
  node.inputs = std::move(kept);
  return true;
}

// What is expanded to v; kNoValue where v is no expansion.
ValueId before_an_expansion(const Graph& graph, ValueId v) {
  const NodeId producer = v == kNoValue ? kNoNode : graph.value(v).producer;
  const bool expands =
      producer != kNoNode && std::holds_alternative<Expand>(graph.node(producer).op);
  return expands ? graph.node(producer).inputs[0] : kNoValue;
}

// Whether the node's result has the same dims when input `i` is `instead`.
bool broadcasts_alike(const Graph& graph, const Node& node, size_t i, ValueId instead) {
  Dims dims = graph.value(instead).type.dims;
  for (size_t j = 0; j < node.inputs.size(); ++j) {
    if (j == i) continue;
    auto wider = broadcast(dims, graph.value(node.inputs[j]).type.dims);
    if (!wider) return false;
    dims = std::move(*wider);
  }
  return is_static(dims) && dims == graph.value(node.outputs[0]).type.dims;
}

// Reads what was expanded for an element-wise operator that broadcasts it itself; whether there was
// any. Gates by channel come so (timm's ECA networks).
bool drop_expansions(Graph& graph, NodeId id, std::vector<std::vector<NodeId>>& users) {
  Node& node = graph.node(id);
  if (!std::holds_alternative<Binary>(node.op) && !std::holds_alternative<Where>(node.op))
    return false;
  bool changed = false;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId expanded = node.inputs[i], instead = before_an_expansion(graph, expanded);
    if (instead == kNoValue || !broadcasts_alike(graph, node, i, instead)) continue;
    node.inputs[i] = instead;
    users[static_cast<size_t>(instead)].push_back(id);
    if (std::ranges::find(node.inputs, expanded) == node.inputs.end())
      std::erase(users[static_cast<size_t>(expanded)], id);
    changed = true;
  }
  return changed;
}

}  // namespace

Result<int> remove_no_ops(Graph& graph) {
  int changed = 0;
  std::vector<std::vector<NodeId>> users = graph.users();
  for (const NodeId id : graph.topological_order()) {
    const Node& node = graph.node(id);
    if (node.inputs.empty() || node.inputs[0] == kNoValue || node.outputs.size() != 1) continue;
    if (const ValueId first = before_a_wider_cast(graph, node); first != kNoValue) {
      std::erase(users[static_cast<size_t>(node.inputs[0])], id);
      users[static_cast<size_t>(first)].push_back(id);
      graph.node(id).inputs[0] = first;
      ++changed;
    }
    changed += drop_empty_parts(graph, id, users);
    changed += drop_expansions(graph, id, users);
    const auto returned = returned_input(graph, node);
    if (!returned) continue;
    const ValueId from = node.outputs[0], to = node.inputs[*returned];
    // An output must not become an input or a constant, nor take the name of another output.
    const bool plain = graph.value(to).producer != kNoNode && !graph.is_output(to);
    if (graph.is_output(from) && !plain) continue;
    const std::vector<NodeId> readers = std::move(users[static_cast<size_t>(from)]);
    graph.replace_uses(from, to, readers);
    auto& moved_to = users[static_cast<size_t>(to)];
    moved_to.insert(moved_to.end(), readers.begin(), readers.end());
    graph.erase_node(id);
    ++changed;
  }
  return changed;
}

}  // namespace enginery
