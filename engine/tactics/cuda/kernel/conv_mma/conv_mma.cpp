// Family conv_mma: implicit GEMM on tensor cores (conv_mma.cuh), of floats here, of quantised
// numbers in quantized.cpp, of two whose results are added in joined.cpp.
#include "engine/tactics/cuda/kernel/conv_mma/joined.h"
#include "engine/tactics/cuda/kernel/conv_mma/quantized.h"
#include "engine/tactics/cuda/kernel/families.h"
#include "engine/tactics/shapes/joined_products.h"

namespace enginery {
namespace {

Status offer_conv_mma(const Problem& problem, const KernelContext& context,
                      std::vector<Tactic>& out) {
  if (joins_products(problem)) return offer_joined_mma(problem, context, out);
  if (is_region(problem)) return offer_quantized_mma(problem, context, out);
  TRY(const ConvShape shape, conv_shape(problem));
  CHECK_OK(require_mma(shape, DataType::float16, context));
  const std::vector<DataType> types = mma_types(context);
  if (types.empty()) return refusal("none of fp16, bf16 and tf32 is allowed, or the SM lacks it");
  for (DataType type : types) {
    TRY(const LoweredEpilogue epilogue, lower_conv_epilogue(problem, shape, type));
    for (const MmaCase& c : mma_cases(shape, type, context)) {
      Tactic tactic = make_conv_tactic(problem, c.shape, epilogue, id_of(c));
      tactic.compute = compute_of(type);
      tactic.workspace_bytes = c.workspace_bytes();
      tactic.estimated_us = estimate_us(c, context);
      tactic.writes_pitched = !shape.gemm;
      tactic.reads_pitched = c.reads_pitched();
      out.push_back(std::move(tactic));
    }
  }
  return {};
}

Result<KernelPlan> plan_conv_mma(const Problem& problem, const Tactic& tactic,
                                 const KernelContext& context) {
  if (joins_products(problem)) return plan_joined_mma(problem, tactic, context);
  if (is_region(problem)) return plan_quantized_mma(problem, tactic, context);
  TRY(const ConvShape shape, conv_shape(problem));
  TRY(const MmaCase c, find_case(shape, tactic.inputs[0].type, tactic, context));
  TRY(const LoweredEpilogue epilogue, lower_conv_epilogue(problem, c.shape, c.type));
  KernelPlan plan;
  plan.program = mma_program(c, c.type, epilogue.code);
  const bool round_to_tf32 = c.type == DataType::float32;
  TRY(KernelLaunch launch,
      mma_launch(c, tactic, pack_filter(c.shape, c.type, c.bk(), c.variant.bn, round_to_tf32),
                 plan));
  attach_epilogue(epilogue, offsetof(gpu::ConvArgs, epilogue), plan, launch);
  add_mma_launch(c, std::move(launch), plan);
  return plan;
}

}  // namespace

const KernelFamily kConvMmaFamily{"conv_mma", offer_conv_mma, plan_conv_mma, true, true};

}  // namespace enginery
