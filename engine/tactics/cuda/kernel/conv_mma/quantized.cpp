#include "engine/tactics/cuda/kernel/conv_mma/quantized.h"

#include "engine/tactics/cuda/kernel/quantized_launch.h"

namespace enginery {

Status offer_quantized_mma(const Problem& problem, const KernelContext& context,
                           std::vector<Tactic>& out) {
  TRY(const QuantizedConv conv, quantized_conv(problem));
  const DataType source = conv.product.source;
  CHECK_OK(require_mma(conv.shape, source, context));
  for (const Tactic& formats : quantized_tactics(problem, conv, context)) {
    for (const MmaCase& c : mma_cases(conv.shape, source, context)) {
      Tactic tactic = formats;
      tactic.id = id_of(c);
      tactic.inputs[0] = c.shape.x_format(source);
      tactic.workspace_bytes = c.workspace_bytes();
      tactic.estimated_us = estimate_us(c, context);
      tactic.writes_pitched = !conv.shape.gemm;
      tactic.reads_pitched = c.reads_pitched();
      out.push_back(std::move(tactic));
    }
  }
  return {};
}

Result<KernelPlan> plan_quantized_mma(const Problem& problem, const Tactic& tactic,
                                      const KernelContext& context) {
  TRY(const QuantizedConv conv, quantized_conv(problem));
  TRY(const MmaCase c, find_case(conv.shape, conv.product.source, tactic, context));
  KernelPlan plan;
  plan.program = mma_program(c, tactic.outputs[0].type, quantized_epilogue(conv, tactic));
  PackConstant weights = pack_region_weights(
      conv.product.weights, pack_filter(c.shape, DataType::int8, c.bk(), c.variant.bn, false));
  TRY(KernelLaunch launch, mma_launch(c, tactic, std::move(weights), plan));
  attach_quantized(conv, offsetof(gpu::ConvArgs, epilogue), plan, launch);
  add_mma_launch(c, std::move(launch), plan);
  return plan;
}

}  // namespace enginery
