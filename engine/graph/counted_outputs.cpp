#include "engine/graph/counted_outputs.h"

#include <unordered_map>

namespace enginery {

Result<ValueId> compacted(Graph& graph, ValueId value, const CountedAxes& axes,
                          const std::string& name) {
  if (axes.empty()) return value;
  Compact op;
  std::vector<ValueId> inputs = {value};
  for (const CountedAxis& a : axes) {
    op.axes.push_back(a.axis);
    inputs.push_back(a.count);
  }
  TRY(const auto outputs, graph.add_node(name, op, std::move(inputs), {name}));
  return outputs[0];
}

Status mark_counts(Graph& graph, const std::vector<CountedAxes>& of_outputs) {
  std::unordered_map<ValueId, size_t> marked;
  for (size_t i = 0; i < of_outputs.size(); ++i) {
    for (const CountedAxis& a : of_outputs[i]) {
      const auto [at, fresh] = marked.emplace(a.count, graph.outputs().size());
      graph.run_time_sizes.push_back({i, a.axis, at->second});
      if (!fresh) continue;
      const std::string name = graph.value(graph.outputs()[i]).name + "/size";
      TRY(const auto count, graph.add_node(name, Identity{}, {a.count}, {name}));
      CHECK_OK(graph.mark_output(count[0]));
    }
  }
  return {};
}

}  // namespace enginery
