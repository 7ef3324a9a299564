#include "engine/passes/fold_constants.h"

namespace enginery {
namespace {

constexpr int64_t kMaxFoldedBytes = 64 << 20;

bool all_constant(const Graph& graph, const Node& node) {
  for (const ValueId v : node.inputs) {
    if (v != kNoValue && !graph.constant(v)) return false;
  }
  return true;
}

bool small_and_static(const Graph& graph, const Node& node) {
  for (const ValueId v : node.outputs) {
    const TensorType& type = graph.value(v).type;
    if (!is_static(type.dims) || bytes_of(type) > kMaxFoldedBytes) return false;
  }
  return true;
}

// The shape of a value is known at build time even where the value is not.
bool is_known_shape(const Graph& graph, const Node& node) {
  return std::holds_alternative<Shape>(node.op) && is_static(graph.value(node.inputs[0]).type.dims);
}

Result<std::vector<Tensor>> evaluate(const Graph& graph, const Node& node) {
  std::vector<const Tensor*> inputs;
  Tensor stand_in;
  for (const ValueId v : node.inputs) inputs.push_back(graph.constant(v));
  if (is_known_shape(graph, node) && !inputs[0]) {
    // Only the dims are read: one element under them would do, but a Tensor owns all of its
    // elements.
    const Dims& dims = graph.value(node.inputs[0]).type.dims;
    const Tensor shape = Tensor::of<int64_t>({static_cast<int64_t>(dims.size())},
                                             std::span(dims.data(), dims.size()));
    const Shape& op = std::get<Shape>(node.op);
    const int64_t rank = shape.size();
    const auto clamp = [&](int64_t i) {
      return std::min(std::max<int64_t>(i < 0 ? i + rank : i, 0), rank);
    };
    const int64_t first = clamp(op.start), last = std::max(first, clamp(op.end));
    return std::vector<Tensor>{Tensor::of<int64_t>(
        {last - first}, shape.data<int64_t>().subspan(static_cast<size_t>(first),
                                                      static_cast<size_t>(last - first)))};
  }
  return run_reference(node.op, inputs);
}

// A shape that has just become constant makes the sizes that depend on it known.
Status infer_again(Graph& graph, const Node& node) {
  bool open = false;
  for (const ValueId v : node.outputs) open |= !is_static(graph.value(v).type.dims);
  if (!open) return {};
  const auto types = infer_types(node.op, graph.operands(node));
  if (!types) return types.error().within("node '" + node.name + "'");
  for (size_t i = 0; i < node.outputs.size(); ++i) graph.value(node.outputs[i]).type = (*types)[i];
  return {};
}

}  // namespace

Result<int> fold_constants(Graph& graph) {
  int changed = 0;
  for (const NodeId id : graph.topological_order()) {
    Node& node = graph.node(id);
    CHECK_OK(infer_again(graph, node));
    bool foldable =
        (all_constant(graph, node) || is_known_shape(graph, node)) && small_and_static(graph, node);
    if (!foldable) continue;
    const auto results = evaluate(graph, node);
    if (!results) {
      if (results.error().code == ErrorCode::unsupported) continue;
      return results.error().within("node '" + node.name + "'");
    }
    // The node's own output values become the constants, so names of outputs stay.
    const std::vector<ValueId> outputs = node.outputs;
    graph.erase_node(id);
    for (size_t i = 0; i < outputs.size(); ++i)
      graph.value(outputs[i]).constant = std::move((*results)[i]);
    ++changed;
  }
  return changed;
}

}  // namespace enginery
