#include "engine/passes/remove_dead.h"

namespace enginery {

Result<int> remove_dead(Graph& graph) {
  std::vector<bool> needed(static_cast<size_t>(graph.node_count()), false);
  for (const NodeId id : graph.needed_order()) needed[static_cast<size_t>(id)] = true;
  int changed = 0;
  for (NodeId id = 0; id < graph.node_count(); ++id) {
    if (graph.node(id).erased || needed[static_cast<size_t>(id)]) continue;
    graph.erase_node(id);
    ++changed;
  }
  return changed;
}

}  // namespace enginery
