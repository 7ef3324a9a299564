#include "engine/passes/raise_quantize.h"

#include <algorithm>

namespace enginery {
namespace {

bool has_one_known_scale(const Graph& graph, const Node& node) {
  const auto* op = std::get_if<Quantize>(&node.op);
  if (!op || op->block_size != 0) return false;
  return std::all_of(node.inputs.begin() + 1, node.inputs.end(), [&](ValueId v) {
    const Tensor* t = graph.constant(v);
    return v == kNoValue || (t && t->size() == 1);
  });
}

// For each value of the graph before the pass its readers. What a Concat gives has as many as ever:
// the pass puts others in their place.
using Readers = std::vector<std::vector<NodeId>>;

// The Concat of run-time values that nobody but the node reads; kNoNode where there is none.
NodeId joined_for(const Graph& graph, const Readers& readers, const Node& node) {
  const ValueId whole = node.inputs[0];
  const NodeId id = graph.value(whole).producer;
  if (id == kNoNode || !std::holds_alternative<Concat>(graph.node(id).op)) return kNoNode;
  const std::vector<ValueId>& parts = graph.node(id).inputs;
  const bool varies =
      std::ranges::none_of(parts, [&](ValueId v) { return graph.constant(v) != nullptr; });
  const bool alone = readers[static_cast<size_t>(whole)].size() == 1 && !graph.is_output(whole);
  return varies && alone ? id : kNoNode;
}

// The quantised parts, each made by a node of its own, which go to `made`.
Result<std::vector<ValueId>> quantize_parts(Graph& graph, NodeId quantize, NodeId concat,
                                            std::vector<NodeId>& made) {
  const std::vector<ValueId> parts = graph.node(concat).inputs;
  std::vector<ValueId> out;
  for (const ValueId part : parts) {
    const Node& node = graph.node(quantize);
    std::vector<ValueId> inputs = node.inputs;
    inputs[0] = part;
    TRY(const auto results,
        graph.add_node(node.name + "." + std::to_string(out.size()), node.op, std::move(inputs)));
    out.push_back(results[0]);
    made.push_back(graph.value(results[0]).producer);
  }
  return out;
}

}  // namespace

Result<int> raise_quantize(Graph& graph) {
  int changed = 0;
  const Readers readers = graph.users();
  std::vector<NodeId> work = graph.topological_order();
  while (!work.empty()) {
    const NodeId id = work.back();
    work.pop_back();
    if (!has_one_known_scale(graph, graph.node(id))) continue;
    const NodeId concat = joined_for(graph, readers, graph.node(id));
    if (concat == kNoNode) continue;
    TRY(std::vector<ValueId> parts, quantize_parts(graph, id, concat, work));
    const Op join = graph.node(concat).op;
    TRY(const auto joined, graph.add_node(graph.node(concat).name, join, std::move(parts)));
    const ValueId before = graph.node(id).outputs[0];
    const auto index = static_cast<size_t>(before);
    if (index < readers.size())
      graph.replace_uses(before, joined[0], readers[index]);
    else
      graph.replace_uses(before, joined[0]);
    graph.erase_node(id);
    graph.erase_node(concat);
    ++changed;
  }
  return changed;
}

}  // namespace enginery
