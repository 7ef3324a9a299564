#include "engine/graph/late_constants.h"

#include <algorithm>

namespace enginery {
namespace {

class Placing {
 public:
  Placing(const Graph& graph, const std::vector<NodeId>& order)
      : graph_(graph),
        depth_(static_cast<size_t>(graph.node_count()), 0),
        placed_(static_cast<size_t>(graph.node_count()), false) {
    find_constants(order);
  }

  bool any() const { return any_; }

  std::vector<NodeId> run(const std::vector<NodeId>& order) {
    out_.reserve(order.size());
    for (const NodeId id : order) {
      if (!is_constant(id)) place(id);
    }
    for (const NodeId id : order) {  // what only other constants read, or nothing
      if (is_constant(id) && !has_reader_[static_cast<size_t>(id)]) place(id);
    }
    return std::move(out_);
  }

 private:
  // 0 for nodes that hang on an input of the graph, else the length of the chain behind the node.
  int32_t& depth(NodeId id) { return depth_[static_cast<size_t>(id)]; }
  bool is_constant(NodeId id) { return depth(id) > 0; }

  void find_constants(const std::vector<NodeId>& order) {
    std::vector<bool> varies(static_cast<size_t>(graph_.value_count()), false);
    has_reader_.assign(static_cast<size_t>(graph_.node_count()), false);
    for (const ValueId v : graph_.inputs()) varies[static_cast<size_t>(v)] = true;
    for (const NodeId id : order) {
      bool varying = false;
      int32_t behind = 0;
      for (const ValueId v : graph_.node(id).inputs) {
        if (v == kNoValue) continue;
        varying |= varies[static_cast<size_t>(v)];
        const NodeId producer = graph_.value(v).producer;
        if (producer == kNoNode) continue;
        behind = std::max(behind, depth(producer));
        has_reader_[static_cast<size_t>(producer)] = true;
      }
      if (!varying) depth(id) = behind + 1;
      any_ |= !varying;
      for (const ValueId v : graph_.node(id).outputs) varies[static_cast<size_t>(v)] = varying;
    }
  }

  // The node behind the constants that it needs.
  void place(NodeId wanted) {
    std::vector<NodeId> open{wanted};
    while (!open.empty()) {
      const NodeId id = open.back();
      const size_t before = open.size();
      if (!placed_[static_cast<size_t>(id)]) add_missing(id, open);
      if (open.size() > before) continue;
      open.pop_back();
      if (placed_[static_cast<size_t>(id)]) continue;
      placed_[static_cast<size_t>(id)] = true;
      out_.push_back(id);
    }
  }

  // The constants that the node still waits for, the longest chain on top.
  void add_missing(NodeId id, std::vector<NodeId>& open) {
    const auto first = static_cast<std::ptrdiff_t>(open.size());
    const std::vector<ValueId>& inputs = graph_.node(id).inputs;
    for (size_t i = inputs.size(); i-- > 0;) {
      const NodeId producer = inputs[i] == kNoValue ? kNoNode : graph_.value(inputs[i]).producer;
      if (producer != kNoNode && is_constant(producer) && !placed_[static_cast<size_t>(producer)])
        open.push_back(producer);
    }
    std::stable_sort(open.begin() + first, open.end(),
                     [&](NodeId a, NodeId b) { return depth(a) < depth(b); });
  }

  const Graph& graph_;
  std::vector<int32_t> depth_;
  std::vector<bool> placed_, has_reader_;
  std::vector<NodeId> out_;
  bool any_ = false;
};

}  // namespace

std::vector<NodeId> late_constants(const Graph& graph, std::vector<NodeId> order) {
  Placing placing(graph, order);
  return placing.any() ? placing.run(order) : order;
}

}  // namespace enginery
