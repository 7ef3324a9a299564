#include "engine/import/onnx/sizes/told_sizes.h"

#include <algorithm>

namespace enginery {
namespace {

// Whether a value follows from an input of the graph by more than its size; what does not is not
// asked again.
bool follows_from_inputs(OpenAxes& open, const Graph& graph, ValueId asked) {
  std::unordered_set<ValueId> seen;
  std::vector<ValueId> waiting{asked};
  while (!waiting.empty()) {
    const ValueId v = waiting.back();
    waiting.pop_back();
    if (v == kNoValue || graph.constant(v) || open.known_from_constants.contains(v)) continue;
    if (!seen.insert(v).second) continue;
    const NodeId producer = graph.value(v).producer;
    if (producer == kNoNode) return true;
    const Node& node = graph.node(producer);
    const bool by_size = std::holds_alternative<Shape>(node.op);
    if (!by_size) waiting.insert(waiting.end(), node.inputs.begin(), node.inputs.end());
  }
  open.known_from_constants.insert(seen.begin(), seen.end());
  return false;
}

}  // namespace

Status require_known_sizes(OpenAxes& open, const Graph& graph, const Node& node) {
  const Op& op = node.op;
  const std::vector<ValueId>& inputs = node.inputs;
  const auto is_unsized = [&](ValueId v) {
    return v != kNoValue && !is_static(graph.value(v).type.dims);
  };
  if (std::ranges::none_of(node.outputs, is_unsized) || std::ranges::any_of(inputs, is_unsized))
    return {};
  const bool sizes_first = std::holds_alternative<ConstantOfShape>(op);
  const bool is_range = std::holds_alternative<Range>(op);
  for (size_t i = sizes_first || is_range ? 0 : 1; i < inputs.size(); ++i) {
    const ValueId v = inputs[i];
    if (v == kNoValue || (is_floating(graph.value(v).type.type) && !is_range)) continue;
    if (follows_from_inputs(open, graph, v))
      return Error{ErrorCode::unsupported,
                   std::string(op_name(op)) + ": a size of its result is what its input " +
                       std::to_string(i) + " '" + graph.value(v).name +
                       "' says, which each run computes, and there is no rule for how it does"};
  }
  return {};
}

}  // namespace enginery
