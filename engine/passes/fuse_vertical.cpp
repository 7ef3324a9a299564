#include "engine/passes/fuse_vertical.h"

#include <algorithm>

namespace enginery {
namespace {

constexpr int kMaxActivations = 2, kMaxOperands = 3;

bool is_pointwise(const Op& op) {
  return std::holds_alternative<Binary>(op) || std::holds_alternative<Unary>(op) ||
         std::holds_alternative<Activation>(op) || std::holds_alternative<PRelu>(op);
}

bool is_anchor(const Op& op) {
  return is_pointwise(op) || std::holds_alternative<Convolution>(op) ||
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

  std::vector<NodeId> grow(NodeId anchor) {
    std::vector<NodeId> chain{anchor};
    int activations = 0, operands = 0;
    while (true) {
      const NodeId next = only_reader(chain.back());
      if (next == kNoNode || graph_.node(next).group != kNoGroup) break;
      const Node& node = graph_.node(next);
      if (std::holds_alternative<Activation>(node.op) && activations < kMaxActivations)
        ++activations;
      else if (operands < kMaxOperands && takes_operand(chain.back(), node))
        ++operands;
      else
        break;
      chain.push_back(next);
    }
    return chain;
  }

 private:
  NodeId only_reader(NodeId id) const {
    const Node& node = graph_.node(id);
    if (node.outputs.size() != 1 || graph_.is_output(node.outputs[0])) return kNoNode;
    const auto& readers = users_[static_cast<size_t>(node.outputs[0])];
    return readers.size() == 1 ? readers[0] : kNoNode;  // twice by one node counts as two
  }

  // A sum or product keeps the dims of what it is combined with; the other operand comes from
  // outside the chain, since each value of the chain has one reader.
  bool takes_operand(NodeId last, const Node& node) const {
    const Binary* binary = std::get_if<Binary>(&node.op);
    if (!binary || (binary->kind != BinaryKind::add && binary->kind != BinaryKind::mul))
      return false;
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
    const std::vector<NodeId> chain = grower.grow(id);
    if (chain.size() < 2) return;
    for (const NodeId member : chain) graph.node(member).group = groups;
    ++groups;
  };
  // Backwards, so that of two anchors that meet in an addition the later one takes it.
  for (size_t i = order.size(); i-- > 0;) {
    if (!is_pointwise(graph.node(order[i]).op)) group_from(order[i]);
  }
  // Element-wise anchors last, so that they never take a step away from a convolution; forwards, so
  // that a chain of them begins with its first.
  for (const NodeId id : order) {
    if (is_pointwise(graph.node(id).op)) group_from(id);
  }
  return groups;
}

}  // namespace enginery
