#include "engine/passes/fold_constants.h"

#include <algorithm>
#include <cmath>

namespace enginery {
namespace {

constexpr int64_t kMaxFoldedBytes = 64 << 20;
// Weights that are transposed, or multiplied with each other, grow with the model.
constexpr double kBytesAByte = 2, kOperationsAByte = 4096;

bool all_constant(const Graph& graph, const Node& node) {
  for (const ValueId v : node.inputs) {
    if (v != kNoValue && !graph.constant(v)) return false;
  }
  return true;
}

// What is left of the graph's limits.
struct FoldBudget {
  double bytes, operations;

  explicit FoldBudget(const Graph& graph) {
    double own = 0;
    for (ValueId v = 0; v < graph.value_count(); ++v) {
      if (const Tensor* t = graph.constant(v)) own += static_cast<double>(t->bytes());
    }
    bytes = static_cast<double>(graph.limits.folded_mib) * (1 << 20) + kBytesAByte * own;
    operations = static_cast<double>(graph.limits.folded_gflop) * 1e9 + kOperationsAByte * own;
  }
};

double size_of(const Graph& graph, ValueId v) {
  return v == kNoValue ? 0 : static_cast<double>(volume(graph.value(v).type.dims));
}

// Multiplications and additions, about: an output element takes as many as its operator reduces
// over, which is no more than the second operand has.
double operations_of(const Graph& graph, const Node& node) {
  double in = 0, out = 0;
  for (const ValueId v : node.inputs) in += size_of(graph, v);
  for (const ValueId v : node.outputs) out += size_of(graph, v);
  const auto size = [&](size_t input, size_t from_right) {
    const Dims& dims = graph.value(node.inputs[input]).type.dims;
    return dims.size() < from_right ? 1.0 : static_cast<double>(dims[dims.size() - from_right]);
  };
  if (std::holds_alternative<MatMul>(node.op)) return 2 * out * size(0, 1);
  if (const auto* gemm = std::get_if<Gemm>(&node.op))
    return 2 * out * size(0, gemm->transpose_a ? 2 : 1);
  if (std::holds_alternative<Convolution>(node.op)) {
    const double channels = static_cast<double>(graph.value(node.inputs[1]).type.dims[0]);
    return 2 * out * size_of(graph, node.inputs[1]) / std::max(channels, 1.0);
  }
  if (std::holds_alternative<Deconvolution>(node.op))
    return 2 * size_of(graph, node.inputs[0]) * size_of(graph, node.inputs[1]);
  if (std::holds_alternative<Einsum>(node.op)) {
    double product = 1;
    for (const ValueId v : node.inputs) product *= std::max(size_of(graph, v), 1.0);
    return 2 * std::max(out, std::sqrt(product * std::max(out, 1.0)));
  }
  if (const auto* pool = std::get_if<Pooling>(&node.op)) {
    double window = 1;
    for (const int64_t k : pool->kernel) window *= static_cast<double>(k);
    return out * window;
  }
  if (const auto* lrn = std::get_if<Lrn>(&node.op)) return out * static_cast<double>(lrn->size);
  return in + out;
}

// Whether the node may be folded; takes its cost out of the budget. Errors: unsupported.
Result<bool> spend(const Graph& graph, const Node& node, FoldBudget& budget) {
  double bytes = 0;
  for (const ValueId v : node.outputs) bytes += static_cast<double>(bytes_of(graph.value(v).type));
  if (bytes > budget.bytes) return false;
  const double operations = operations_of(graph, node);
  if (operations > budget.operations) {
    const auto gflop = static_cast<int64_t>(operations / 1e9) + 1;
    return Error{ErrorCode::unsupported,
                 "node '" + node.name + "' (" + std::string(op_name(node.op)) +
                     "): computing constants takes more than " +
                     std::to_string(graph.limits.folded_gflop) + " GFLOP, this node alone " +
                     std::to_string(gflop) +
                     limit_advice(&Limits::folded_gflop, graph.limits.folded_gflop + 2 * gflop)};
  }
  budget.bytes -= bytes;
  budget.operations -= operations;
  return true;
}

// Whether an output hangs on the value.
std::vector<bool> needed_values(const Graph& graph) {
  std::vector<bool> needed(static_cast<size_t>(graph.value_count()), false);
  for (const ValueId v : graph.outputs()) needed[static_cast<size_t>(v)] = true;
  const std::vector<NodeId> order = graph.topological_order();
  for (size_t i = order.size(); i-- > 0;) {
    const Node& node = graph.node(order[i]);
    if (!std::ranges::any_of(node.outputs,
                             [&](ValueId v) { return needed[static_cast<size_t>(v)]; }))
      continue;
    for (const ValueId v : node.inputs) {
      if (v != kNoValue) needed[static_cast<size_t>(v)] = true;
    }
  }
  return needed;
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
  FoldBudget budget(graph);
  const std::vector<bool> needed = needed_values(graph);
  const auto is_dead = [&](const Node& node) {
    return std::ranges::none_of(node.outputs,
                                [&](ValueId v) { return needed[static_cast<size_t>(v)]; });
  };
  for (const NodeId id : graph.topological_order()) {
    Node& node = graph.node(id);
    CHECK_OK(infer_again(graph, node));
    if (is_dead(node)) continue;
    bool foldable =
        (all_constant(graph, node) || is_known_shape(graph, node)) && small_and_static(graph, node);
    if (!foldable) continue;
    TRY(const bool affordable, spend(graph, node, budget));
    if (!affordable) continue;
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
