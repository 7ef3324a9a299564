#include "engine/passes/merge_common.h"

#include <map>

namespace enginery {
namespace {

constexpr int64_t kMaxHashedBytes = 4096;

// Equal small constants get one id, so that nodes reading them compare equal.
std::vector<ValueId> representatives(const Graph& graph) {
  std::vector<ValueId> out;
  std::map<std::string, ValueId> seen;
  for (ValueId v = 0; v < graph.value_count(); ++v) {
    const Tensor* t = graph.constant(v);
    if (!t || t->bytes() > kMaxHashedBytes) {
      out.push_back(v);
      continue;
    }
    std::string key = to_string(t->tensor_type()) + std::string(as_text(t->byte_span()));
    out.push_back(seen.emplace(std::move(key), v).first->second);
  }
  return out;
}

// One sweep for all merged values: none of them is an output.
void read_instead(Graph& graph, const std::map<ValueId, ValueId>& merged) {
  for (NodeId id = 0; id < graph.node_count(); ++id) {
    for (ValueId& v : graph.node(id).inputs) {
      if (const auto found = merged.find(v); found != merged.end()) v = found->second;
    }
  }
}

}  // namespace

Result<int> merge_common(Graph& graph) {
  std::vector<ValueId> same = representatives(graph);
  std::map<ValueId, ValueId> merged;
  std::map<std::string, NodeId> seen;
  int changed = 0;
  for (const NodeId id : graph.topological_order()) {
    const Node& node = graph.node(id);
    std::string key = std::string(op_name(node.op)) + " " + attributes_text(node.op);
    for (const ValueId v : node.inputs)
      key += " " + std::to_string(v == kNoValue ? v : same[static_cast<size_t>(v)]);
    const auto [found, fresh] = seen.emplace(std::move(key), id);
    if (fresh) continue;
    const Node& first = graph.node(found->second);
    bool names_an_output = false;
    for (const ValueId v : node.outputs) names_an_output |= graph.is_output(v);
    if (names_an_output) continue;
    const std::vector<ValueId> from = node.outputs, to = first.outputs;
    for (size_t i = 0; i < from.size(); ++i) {
      merged[from[i]] = to[i];
      same[static_cast<size_t>(from[i])] = to[i];
    }
    graph.erase_node(id);
    ++changed;
  }
  read_instead(graph, merged);
  return changed;
}

}  // namespace enginery
