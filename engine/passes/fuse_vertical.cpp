#include "engine/passes/fuse_vertical.h"

#include <algorithm>

#include "engine/ops/float_function.h"

namespace enginery {
namespace {

constexpr int kMaxActivations = 2, kMaxOperands = 3;
// Of a chain of element-wise operators: no kernel takes more.
constexpr int kMaxFunctions = 8, kMaxInputs = 6;

// A step function. Behind another function it turns that one's rounding error into a whole step, so
// it may only begin a chain.
bool jumps(const Op& op) {
  const auto* unary = std::get_if<Unary>(&op);
  return unary && (unary->kind == UnaryKind::floor || unary->kind == UnaryKind::ceil ||
                   unary->kind == UnaryKind::round || unary->kind == UnaryKind::sign);
}

bool begins_chain(const Op& op) {
  return is_float_function(op) || makes_floats(op);
}

bool is_anchor(const Op& op) {
  return begins_chain(op) || std::holds_alternative<Convolution>(op) ||
         std::holds_alternative<Deconvolution>(op) || std::holds_alternative<MatMul>(op) ||
         std::holds_alternative<Gemm>(op) || std::holds_alternative<LayerNorm>(op) ||
         std::holds_alternative<RmsNorm>(op) || std::holds_alternative<InstanceNorm>(op) ||
         std::holds_alternative<GroupNorm>(op);
}

bool is_floating_value(const Graph& graph, ValueId v) {
  return is_floating(graph.value(v).type.type);
}

// Grows one group from its anchor along the only reader of each value.
class Grower {
 public:
  Grower(Graph& graph, const std::vector<std::vector<NodeId>>& users)
      : graph_(graph), users_(users) {}

  // An anchor that computes sums, with what its kernels do to them: activations, sums, products.
  std::vector<NodeId> grow(NodeId anchor) {
    int activations = 0, operands = 0;
    return grow_while(anchor, [&](NodeId last, const Node& node) {
      if (reads(node, last) != 1) return false;
      if (std::holds_alternative<Activation>(node.op)) return activations++ < kMaxActivations;
      return adds_or_multiplies(node.op) && keeps_type(last, node) && operands++ < kMaxOperands;
    });
  }

  // A chain of element-wise operators of any kind.
  std::vector<NodeId> grow_chain(NodeId anchor) {
    int functions = 1;
    size_t inputs = graph_.node(anchor).inputs.size();
    return grow_while(anchor, [&](NodeId last, const Node& node) {
      const bool flows_first = node.inputs[0] == graph_.node(last).outputs[0];
      if (!is_float_function(node.op) || jumps(node.op) || !keeps_type(last, node)) return false;
      if (std::holds_alternative<PRelu>(node.op) && !flows_first) return false;  // the slope flows
      if (reads(node, last) != 1 && !is_square(node)) return false;
      inputs += node.inputs.size() - 1;
      return ++functions <= kMaxFunctions && inputs <= kMaxInputs;
    });
  }

 private:
  NodeId only_reader(NodeId id) const {
    const Node& node = graph_.node(id);
    if (node.outputs.size() != 1 || graph_.is_output(node.outputs[0])) return kNoNode;
    const auto& readers = users_[static_cast<size_t>(node.outputs[0])];
    const bool one =
        !readers.empty() && std::ranges::count(readers, readers[0]) == std::ssize(readers);
    return one ? readers[0] : kNoNode;
  }

  // How often a node reads the result of another.
  int64_t reads(const Node& node, NodeId of) const {
    return std::ranges::count(node.inputs, graph_.node(of).outputs[0]);
  }

  static bool is_square(const Node& node) {
    const auto* binary = std::get_if<Binary>(&node.op);
    return binary && binary->kind == BinaryKind::mul && node.inputs[0] == node.inputs[1];
  }

  // The anchor and, one after the other, the only reader of the last one's result, while `takes`
  // accepts it.
  template <typename Takes>
  std::vector<NodeId> grow_while(NodeId anchor, const Takes& takes) {
    std::vector<NodeId> chain{anchor};
    while (true) {
      const NodeId next = only_reader(chain.back());
      if (next == kNoNode || graph_.node(next).group != kNoGroup ||
          !takes(chain.back(), graph_.node(next)))
        return chain;
      chain.push_back(next);
    }
  }

  // Whether the result is of the dims and the type of what flows into it; other operands come from
  // outside the chain, since each value of the chain is read by one node.
  bool keeps_type(NodeId last, const Node& node) const {
    const TensorType& mine = graph_.value(graph_.node(last).outputs[0]).type;
    return graph_.value(node.outputs[0]).type == mine && is_static(mine.dims);
  }

  Graph& graph_;
  const std::vector<std::vector<NodeId>>& users_;
};

}  // namespace

Result<int> fuse_vertical(Graph& graph) {
  const auto users = graph.users();
  const std::vector<NodeId> order = graph.topological_order();
  Grower grower(graph, users);
  int32_t groups = 0;
  const auto group_from = [&](NodeId id) {
    const Node& node = graph.node(id);
    if (node.group != kNoGroup || !is_anchor(node.op) || !is_floating_value(graph, node.outputs[0]))
      return;
    // A cast from one float type to another rounds on purpose and stays by itself.
    if (makes_floats(node.op) && is_floating_value(graph, node.inputs[0])) return;
    const std::vector<NodeId> chain =
        begins_chain(node.op) ? grower.grow_chain(id) : grower.grow(id);
    if (chain.size() < 2) return;
    for (const NodeId member : chain) graph.node(member).group = groups;
    ++groups;
  };
  // Backwards, so that of two anchors that meet in an addition the later one takes it.
  for (size_t i = order.size(); i-- > 0;) {
    if (!begins_chain(graph.node(order[i]).op)) group_from(order[i]);
  }
  // Element-wise anchors last, so that they never take a step away from a convolution; forwards, so
  // that a chain of them begins with its first.
  for (const NodeId id : order) {
    if (begins_chain(graph.node(id).op)) group_from(id);
  }
  return groups;
}

}  // namespace enginery
