#include "engine/passes/remove_dead.h"

namespace enginery {

Result<int> remove_dead(Graph& graph) {
  std::vector<bool> needed(static_cast<size_t>(graph.value_count()), false);
  for (const ValueId v : graph.outputs()) needed[static_cast<size_t>(v)] = true;
  const std::vector<NodeId> order = graph.topological_order();
  int changed = 0;
  for (size_t i = order.size(); i-- > 0;) {
    const Node& node = graph.node(order[i]);
    bool live = false;
    for (const ValueId v : node.outputs) live |= needed[static_cast<size_t>(v)];
    if (live) {
      for (const ValueId v : node.inputs) {
        if (v != kNoValue) needed[static_cast<size_t>(v)] = true;
      }
    } else {
      graph.erase_node(order[i]);
      ++changed;
    }
  }
  return changed;
}

}  // namespace enginery
