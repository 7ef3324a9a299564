#include <algorithm>

#include "engine/graph/graph.h"

namespace enginery {
namespace {

Error broken(const Node& node, const std::string& reason) {
  return {ErrorCode::invalid_argument,
          "node '" + node.name + "' (" + std::string(op_name(node.op)) + "): " + reason};
}

// Before anything follows an index: every value that a live node names is in the table.
Status require_known_values(const Graph& graph) {
  const auto known = [&](ValueId v) { return v >= 0 && v < graph.value_count(); };
  for (NodeId id = 0; id < graph.node_count(); ++id) {
    const Node& node = graph.node(id);
    if (node.erased) continue;
    for (const ValueId v : node.inputs) {
      if (v != kNoValue && !known(v)) return broken(node, "reads an unknown value");
    }
    for (const ValueId v : node.outputs) {
      if (!known(v)) return broken(node, "writes an unknown value");
    }
  }
  return {};
}

Status verify_node(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  for (const ValueId v : node.inputs) {
    if (v == kNoValue) continue;
    bool has_source =
        graph.value(v).producer != kNoNode || graph.value(v).constant.has_value() ||
        std::find(graph.inputs().begin(), graph.inputs().end(), v) != graph.inputs().end();
    if (!has_source)
      return broken(node, "reads '" + graph.value(v).name + "', which nothing produces");
  }
  const auto types = infer_types(node.op, graph.operands(node));
  if (!types) return broken(node, types.error().message);
  if (types->size() != node.outputs.size()) return broken(node, "has the wrong number of outputs");
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const Value& out = graph.value(node.outputs[i]);
    if (out.producer != id) return broken(node, "does not own its output '" + out.name + "'");
    if (!((*types)[i] == out.type)) {
      return broken(node, "output '" + out.name + "' is " + to_string(out.type) +
                              ", its shape rule gives " + to_string((*types)[i]));
    }
  }
  return {};
}

}  // namespace

Status verify(const Graph& graph) {
  CHECK_OK(require_known_values(graph));
  const auto order = graph.topological_order();
  if (static_cast<int32_t>(order.size()) != graph.live_node_count()) {
    return Error{ErrorCode::invalid_argument, "graph '" + graph.name + "' has a cycle"};
  }
  for (const NodeId id : order) CHECK_OK(verify_node(graph, id));
  if (graph.outputs().empty())
    return Error{ErrorCode::invalid_argument, "graph '" + graph.name + "' has no output"};
  std::vector<TensorType> outputs;
  for (const ValueId v : graph.outputs()) outputs.push_back(graph.value(v).type);
  if (!are_counted(graph.run_time_sizes, outputs))
    return Error{ErrorCode::invalid_argument,
                 "graph '" + graph.name + "' has a run-time size that is not counted"};
  for (const ValueId v : graph.outputs()) {
    const Value& value = graph.value(v);
    bool is_input =
        std::find(graph.inputs().begin(), graph.inputs().end(), v) != graph.inputs().end();
    if (value.producer == kNoNode && !value.constant && !is_input) {
      return Error{ErrorCode::invalid_argument, "output '" + value.name + "' is never produced"};
    }
  }
  return {};
}

}  // namespace enginery
