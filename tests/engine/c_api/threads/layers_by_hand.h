// A plan written by hand, so that the thread sanitizer's build compiles the runtime and nothing
// that makes engines.
#pragma once

#include "tests/engine/c_api/c_loaded.h"

namespace enginery::test {

// y = tanh((x + z) * w), three steps of the reference: two tensors in the context's arena, and one
// constant that all contexts read.
inline Plan layers_by_hand() {
  constexpr auto kBytes = static_cast<int64_t>(kTensorBytes);
  const TensorType type{DataType::float32, {1, 32, 40, 40}}, one{DataType::float32, {1, 1, 1, 1}};
  Plan plan;
  plan.storages = {{StorageKind::input, kBytes, 0, 0, 0},
                   {StorageKind::input, kBytes, 1, 0, 0},
                   {StorageKind::arena, kBytes, 0, 0, 1},
                   {StorageKind::arena, kBytes, kBytes, 1, 2},
                   {StorageKind::output, kBytes, 0, 2, 2}};
  plan.arena_bytes = 2 * kBytes;
  for (const char* name : {"x", "z", "sum", "scaled", "y"})
    plan.tensors.push_back({name, type, {}, static_cast<int>(plan.tensors.size())});
  plan.constants = {{"w", Tensor::of<float>({1, 1, 1, 1}, {0.5f})}};
  // `inputs`: as a step has them, -1 for the constant.
  const auto add = [&](const Op& op, const std::vector<int>& inputs, int output) {
    PlanStep step;
    step.name = plan.tensors[static_cast<size_t>(output)].name;
    step.problem.op = op;
    step.problem.anchor_inputs = static_cast<int>(inputs.size());
    step.tactic.source = "reference";
    step.tactic.id = "host";
    for (const int input : inputs) {
      const bool is_constant = input < 0;
      step.problem.inputs.push_back({is_constant ? one : type});
      step.problem.inputs.back().constant = is_constant;
      step.tactic.inputs.push_back({DataType::float32, {}});
      step.constants.push_back(is_constant ? 0 : -1);
    }
    step.inputs = inputs;
    step.problem.outputs.push_back({type});
    step.tactic.outputs = {{DataType::float32, {}}};
    step.outputs = {output};
    plan.steps.push_back(std::move(step));
  };
  add(Binary{BinaryKind::add}, {0, 1}, 2);
  add(Binary{BinaryKind::mul}, {2, -1}, 3);
  add(Activation{ActivationKind::tanh}, {3}, 4);
  plan.inputs = {0, 1};
  plan.outputs = {4};
  return plan;
}

}  // namespace enginery::test
