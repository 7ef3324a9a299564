// Family batched_gemm, `product` in tactic ids: matrix products of any two operands
// (batched_gemm.cuh).
#include <algorithm>
#include <cmath>

#include "engine/tactics/cuda/kernel/batched_gemm/args.h"
#include "engine/tactics/cuda/kernel/families.h"
#include "engine/tactics/cuda/kernel/text/epilogue_text.h"
#include "engine/tactics/shapes/gemm_shape.h"

namespace enginery {
namespace {

// A BM x BN tile of outputs a block, BK along K a step.
struct GemmVariant {
  int bm, bn, bk;
};

constexpr GemmVariant kGemmVariants[] = {{64, 64, 16}};

std::string id_of(const GemmVariant& v) {
  return "product/" + std::to_string(v.bm) + "x" + std::to_string(v.bn) + "x" +
         std::to_string(v.bk);
}

Result<LoweredEpilogue> gemm_epilogue(const Problem& problem, const GemmShape& shape,
                                      DataType type) {
  return lower_epilogue(problem, frame_in_order(problem.outputs[0].type.dims, type), shape.bias);
}

// Outputs a store.
int gemm_vector(const GemmShape& shape) {
  return shape.n % 4 == 0 ? 4 : 1;
}

// Waves of tiles at the share of the peak that float32 sums through shared memory reach, no less
// than the bytes.
double estimate_us(const Problem& problem, const GemmShape& shape, const GemmVariant& v,
                   DataType type, const KernelContext& context) {
  constexpr double kShare = 0.25;
  const auto tiles =
      static_cast<double>(shape.batches * divide_up(shape.m, v.bm) * divide_up(shape.n, v.bn));
  const double waves = std::ceil(tiles / context.info.compute_units);
  const double flops =
      waves * context.info.compute_units * 2.0 * v.bm * v.bn * static_cast<double>(shape.k);
  double elements = static_cast<double>(volume(problem.outputs[0].type.dims));
  for (size_t input : {0u, 1u})
    elements += static_cast<double>(volume(problem.inputs[input].type.dims));
  return std::max(1e6 * flops / (kShare * context.info.float32_flops),
                  context.memory_us(elements * static_cast<double>(element_bytes(type))));
}

Status offer_batched_gemm(const Problem& problem, const KernelContext& context,
                          std::vector<Tactic>& out) {
  TRY(const GemmShape shape, gemm_shape(problem));
  for (DataType type : context.storage_types()) {
    TRY(const LoweredEpilogue epilogue, gemm_epilogue(problem, shape, type));
    for (const GemmVariant& variant : kGemmVariants) {
      Tactic tactic = make_kernel_tactic(problem, id_of(variant));
      want_operands(epilogue, tactic);
      for (size_t input : {0u, 1u}) tactic.inputs[input] = {type, {}};
      tactic.outputs[0] = {type, {}};
      tactic.compute = precision_of_storage(type);
      tactic.estimated_us = estimate_us(problem, shape, variant, type, context);
      out.push_back(std::move(tactic));
    }
  }
  return {};
}

gpu::GemmArgs gemm_args(const GemmShape& shape, const GemmVariant& v) {
  gpu::GemmArgs args{};
  args.m = to_int(shape.m);
  args.n = to_int(shape.n);
  args.k = to_int(shape.k);
  args.tiles_m = to_int(divide_up(shape.m, v.bm));
  args.tiles_n = to_int(divide_up(shape.n, v.bn));
  args.am = to_int(shape.a_stride_m);
  args.ak = to_int(shape.a_stride_k);
  args.bk = to_int(shape.b_stride_k);
  args.bn = to_int(shape.b_stride_n);
  args.alpha = shape.alpha;
  return args;
}

Result<KernelPlan> plan_batched_gemm(const Problem& problem, const Tactic& tactic,
                                     const KernelContext&) {
  const GemmVariant* variant = find_variant(kGemmVariants, tactic);
  if (!variant) return no_variant(tactic);
  const DataType type = tactic.outputs[0].type;
  TRY(const GemmShape shape, gemm_shape(problem));
  TRY(const LoweredEpilogue epilogue, gemm_epilogue(problem, shape, type));
  KernelPlan plan;
  define_types(plan.program, type, type);
  plan.program.define("BM", variant->bm);
  plan.program.define("BN", variant->bn);
  plan.program.define("BK", variant->bk);
  plan.program.define("A_ALONG_K", shape.a_stride_k == 1);
  plan.program.define("B_ALONG_K", shape.b_stride_k == 1 && shape.b_stride_n != 1);
  plan.program.define("VECTOR", gemm_vector(shape));
  plan.program.functions = place_text("a_place", shape.a_batch) +
                           place_text("b_place", shape.b_batch) + epilogue_text(epilogue.code);
  plan.program.files = {"batched_gemm/args.h", "batched_gemm/batched_gemm.cuh"};
  const gpu::GemmArgs args = gemm_args(shape, *variant);
  KernelLaunch launch;
  launch.grid = {static_cast<unsigned>(shape.batches * args.tiles_m * args.tiles_n), 1, 1};
  launch.threads = static_cast<unsigned>(variant->bm * variant->bn / 16);
  launch.arguments = argument_bytes(args);
  launch.slots = {operand_slot(problem, shape.a, type, offsetof(gpu::GemmArgs, a), plan),
                  operand_slot(problem, shape.b, type, offsetof(gpu::GemmArgs, b), plan),
                  {offsetof(gpu::GemmArgs, y), PointerSource::output, 0}};
  attach_epilogue(epilogue, offsetof(gpu::GemmArgs, epilogue), plan, launch);
  plan.launches.push_back(std::move(launch));
  return plan;
}

}  // namespace

const KernelFamily kBatchedGemmFamily{"product", offer_batched_gemm, plan_batched_gemm};

}  // namespace enginery
