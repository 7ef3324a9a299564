#include "engine/runtime/sample_inputs.h"

#include "engine/graph/made_up_inputs.h"

namespace enginery {
namespace {

// The problem's operators behind the values of its inputs; what they give. Empty where one does not
// let itself be wired.
std::vector<ValueId> add_operators(Graph& graph, const Problem& problem,
                                   std::vector<ValueId> known) {
  std::vector<ValueId> outputs;
  for (const RegionPart& part : operators_of(problem)) {
    std::vector<ValueId> inputs;
    for (int i = 0; i < part.problem.anchor_inputs; ++i) {
      const int operand = part.operands[static_cast<size_t>(i)];
      inputs.push_back(operand >= 0 ? known[static_cast<size_t>(operand)] : kNoValue);
    }
    auto added = graph.add_node("", part.problem.op, inputs);
    if (!added) return {};
    outputs = std::move(*added);
    known.push_back(outputs[0]);
  }
  return outputs;
}

// The operators of the plan's anchors and regions as a graph, as far as they let themselves be
// wired: epilogues, which pass on values of the same meaning, are left out.
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
    std::vector<ValueId> known;
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      const int tensor = step.inputs[i], constant = step.constants[i];
      known.push_back(tensor >= 0     ? values[static_cast<size_t>(tensor)]
                      : constant >= 0 ? constants[static_cast<size_t>(constant)]
                                      : kNoValue);
    }
    const std::vector<ValueId> outputs = add_operators(graph, step.problem, std::move(known));
    for (size_t i = 0; i < outputs.size() && i < step.outputs.size(); ++i) {
      if (step.outputs[i] >= 0) values[static_cast<size_t>(step.outputs[i])] = outputs[i];
    }
  }
  return graph;
}

}  // namespace

std::vector<Tensor> sample_inputs(const Plan& plan, uint64_t seed) {
  return made_up_inputs(graph_of(plan), seed);
}

}  // namespace enginery
