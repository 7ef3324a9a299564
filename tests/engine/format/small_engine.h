// A small engine made by hand, for tests of the file format.
#pragma once

#include "engine/format/engine_file.h"

namespace enginery::test {

// A plan with one of everything that the codec carries.
inline Plan small_plan() {
  Plan plan;
  Format nhwc{DataType::float32, {LayoutKind::channels_last, 0}};
  plan.storages = {{StorageKind::input, 400, 0, 0, 0},
                   {StorageKind::arena, 400, 0, 0, 1},
                   {StorageKind::output, 400, 0, 1, 2},
                   {StorageKind::arena, 64, 512, 0, 0}};
  TensorType type{DataType::float32, {1, 4, 5, 5}};
  plan.tensors = {{"x", type, {}, 0}, {"x2", type, nhwc, 1}, {"y", type, {}, 2}};
  plan.constants = {{"w", Tensor::of<float>({4, 4, 1, 1}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
                                                           13, 14, 15, 16})}};
  PlanStep reformat;
  reformat.name = "reformat x";
  reformat.problem = reformat_problem(type, {}, nhwc);
  reformat.tactic.source = "kernel";
  reformat.tactic.id = "copy";
  reformat.tactic.inputs = {Format{}};
  reformat.tactic.outputs = {nhwc};
  reformat.tactic.workspace_bytes = 64;
  reformat.inputs = {0};
  reformat.constants = {-1};
  reformat.outputs = {1};
  reformat.workspace = 3;
  PlanStep conv;
  conv.name = "conv+relu";
  conv.problem.op = Convolution{{1, 1}, {1, 1}, {0, 0}, {0, 0}, 1};
  conv.problem.anchor_inputs = 3;
  conv.problem.inputs.resize(3);
  conv.problem.inputs[0].type = type;
  conv.problem.inputs[1].type = {DataType::float32, {4, 4, 1, 1}};
  conv.problem.inputs[1].constant = true;
  conv.problem.inputs[2].present = false;
  conv.problem.outputs.resize(1);
  conv.problem.outputs[0].type = type;
  conv.problem.epilogue = {{EpilogueKind::activation, {ActivationKind::leaky_relu, 0.1f, 0}, -1}};
  conv.tactic.source = "onednn";
  conv.tactic.id = "brgconv";
  conv.tactic.inputs = {nhwc, {}, {}};
  conv.tactic.outputs = {Format{}};
  conv.tactic.code = std::make_shared<const Bytes>("device code");
  conv.inputs = {1, -1, -1};
  conv.constants = {-1, 0, -1};
  conv.outputs = {2};
  plan.steps = {reformat, conv};
  plan.inputs = {0};
  plan.outputs = {2};
  plan.arena_bytes = 1024;
  return plan;
}

// One step of the reference over inputs and outputs that are all the caller's, as the writer would
// put it; whether it keeps the operator's rules is the test's.
inline Plan one_step_plan(const Op& op, const std::vector<TensorType>& inputs,
                          const std::vector<TensorType>& outputs) {
  Plan plan;
  PlanStep step;
  step.name = "step";
  step.problem.op = op;
  step.problem.anchor_inputs = static_cast<int>(inputs.size());
  step.tactic.source = "reference";
  step.tactic.id = "host";
  const auto add = [&](const TensorType& type, StorageKind kind, std::vector<int>& callers) {
    const int index = static_cast<int>(plan.tensors.size());
    plan.storages.push_back({kind, bytes_of(type), static_cast<int64_t>(callers.size()), 0, 0});
    plan.tensors.push_back({"t" + std::to_string(index), type, {type.type, {}}, index});
    callers.push_back(index);
    return index;
  };
  for (const TensorType& type : inputs) {
    step.inputs.push_back(add(type, StorageKind::input, plan.inputs));
    step.constants.push_back(-1);
    step.problem.inputs.push_back({type});
    step.tactic.inputs.push_back({type.type, {}});
  }
  for (const TensorType& type : outputs) {
    step.outputs.push_back(add(type, StorageKind::output, plan.outputs));
    step.problem.outputs.push_back({type});
    step.tactic.outputs.push_back({type.type, {}});
  }
  plan.steps.push_back(std::move(step));
  return plan;
}

// The manifest of a plan: what the caller is told of it.
inline Manifest manifest_of(const Plan& plan, const std::string& sku) {
  Manifest m;
  m.name = "small";
  m.sku = sku;
  m.precisions = {"fp32"};
  const auto describe = [&](const std::vector<int>& tensors, std::vector<NamedType>& out) {
    for (const int t : tensors) {
      const PlanTensor& tensor = plan.tensors[static_cast<size_t>(t)];
      out.push_back({tensor.name, tensor.type});
    }
  };
  describe(plan.inputs, m.inputs);
  describe(plan.outputs, m.outputs);
  return m;
}

inline Manifest small_manifest() {
  Manifest m;
  m.name = "small";
  m.sku = "cpu-avx2";
  m.precisions = {"fp32"};
  m.software = {{"onednn", "2.6.3"}};
  m.inputs = {{"x", {DataType::float32, {1, 4, 5, 5}}}};
  m.outputs = {{"y", {DataType::float32, {1, 4, 5, 5}}}};
  return m;
}

inline Provenance small_provenance(double median_us = 5) {
  Provenance p;
  p.median_us = median_us;
  p.step_us = {1, 2};
  p.facts = {{"worker", "me"}};
  return p;
}

// All sections, without a signature.
inline Bytes unsigned_engine(const Plan& plan = small_plan(),
                             const Manifest& manifest = small_manifest()) {
  return *write_content(manifest, plan) + *write_provenance(small_provenance());
}

}  // namespace enginery::test
