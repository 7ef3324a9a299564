#include "engine/runtime/sample_inputs.h"

#include "engine/graph/made_up_inputs.h"

namespace enginery {
namespace {

constexpr uint64_t kSeed = 20261122;

// The plan's anchors as a graph, as far as they let themselves be wired: epilogues, which pass on
// values of the same meaning, are left out.
Graph graph_of(const Plan& plan) {
  Graph graph;
  std::vector<ValueId> values(plan.tensors.size(), kNoValue), constants;
  for (const PlanConstant& c : plan.constants)
    constants.push_back(graph.add_constant("", c.tensor));
  for (const int t : plan.inputs) {
    const auto at = static_cast<size_t>(t);
    values[at] = graph.add_input("", plan.tensors[at].type);
  }
  for (const PlanStep& step : plan.steps) {
    std::vector<ValueId> inputs;
    for (int i = 0; i < step.problem.anchor_inputs; ++i) {
      const auto at = static_cast<size_t>(i);
      const int tensor = step.inputs[at], constant = step.constants[at];
      inputs.push_back(tensor >= 0     ? values[static_cast<size_t>(tensor)]
                       : constant >= 0 ? constants[static_cast<size_t>(constant)]
                                       : kNoValue);
    }
    const auto outputs = graph.add_node("", step.problem.op, inputs);
    if (!outputs) continue;
    for (size_t i = 0; i < outputs->size() && i < step.outputs.size(); ++i) {
      if (step.outputs[i] >= 0) values[static_cast<size_t>(step.outputs[i])] = (*outputs)[i];
    }
  }
  return graph;
}

}  // namespace

std::vector<Tensor> sample_inputs(const Plan& plan) {
  return made_up_inputs(graph_of(plan), kSeed);
}

}  // namespace enginery
