#include "engine/passes/merge_common.h"

#include <map>

#include "engine/base/digest.h"

namespace enginery {
namespace {

// Above it a constant is told by its digest, and stored once: tied weights that an exporter wrote
// twice.
constexpr int64_t kLargeBytes = 4096;

bool is_large(const Tensor& t) {
  return t.bytes() > kLargeBytes;
}

// How many large constants have each type: one alone has no equal, and need not be read.
std::map<std::string, int> count_large(const Graph& graph) {
  std::map<std::string, int> out;
  for (ValueId v = 0; v < graph.value_count(); ++v) {
    const Tensor* t = graph.constant(v);
    if (t && is_large(*t)) ++out[to_string(t->tensor_type())];
  }
  return out;
}

// Equal constants get one id, so that nodes reading them compare equal.
std::vector<ValueId> representatives(const Graph& graph) {
  std::vector<ValueId> out;
  std::map<std::string, ValueId> seen;
  const std::map<std::string, int> large = count_large(graph);
  for (ValueId v = 0; v < graph.value_count(); ++v) {
    const Tensor* t = graph.constant(v);
    std::string key = t ? to_string(t->tensor_type()) : "";
    if (!t || (is_large(*t) && large.at(key) == 1)) {
      out.push_back(v);
      continue;
    }
    key += is_large(*t) ? sha256(t->byte_span()).text() : std::string(as_text(t->byte_span()));
    out.push_back(seen.emplace(std::move(key), v).first->second);
  }
  return out;
}

// The large constants that nodes read and that have an equal one before them.
std::map<ValueId, ValueId> stored_twice(const Graph& graph, const std::vector<ValueId>& same) {
  std::map<ValueId, ValueId> out;
  for (NodeId id = 0; id < graph.node_count(); ++id) {
    if (graph.node(id).erased) continue;
    for (const ValueId v : graph.node(id).inputs) {
      const Tensor* t = graph.constant(v);
      if (t && is_large(*t) && same[static_cast<size_t>(v)] != v)
        out[v] = same[static_cast<size_t>(v)];
    }
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
  std::map<ValueId, ValueId> merged = stored_twice(graph, same);
  std::map<std::string, NodeId> seen;
  int changed = static_cast<int>(merged.size());
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
