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
inline Bytes unsigned_engine(const Plan& plan = small_plan()) {
  return *write_content(small_manifest(), plan) + *write_provenance(small_provenance());
}

}  // namespace enginery::test
