// Family conv_mma: implicit GEMM on tensor cores (engine/kernels/cuda/src/conv_mma.cuh).
#include <algorithm>
#include <cmath>

#include "engine/kernels/cuda/variants.h"
#include "engine/tactics/cuda/kernel/conv_shape.h"

namespace enginery {
namespace {

struct MmaCase {
  ConvShape shape;
  MmaVariant variant;
  DataType type = DataType::float16;
  int64_t bk() const { return variant.row_bytes / element_bytes(type); }
  int64_t tiles_m() const { return divide_up(shape.m(), variant.bm); }
  int64_t tiles_k() const { return divide_up(shape.k_pitch(), variant.bn); }
  int64_t steps() const { return filter_steps(shape, bk()); }
  int64_t slices() const { return std::max(variant.cluster, variant.slices); }
};

bool serves(const MmaCase& c, const KernelContext& context) {
  const MmaVariant& v = c.variant;
  // Newer SMs have the asynchronous copies that variants of two stages do without.
  if (context.info.compute_capability < v.least_sm) return false;
  if (context.info.compute_capability >= 80 && v.least_sm < 80) return false;
  if (shared_bytes_of(v) > context.limits.shared_kib_per_block * 1024) return false;
  if (c.slices() > 1 && c.steps() < 2 * c.slices()) return false;
  return c.tiles_m() * c.tiles_k() < (int64_t{1} << 31);
}

// Waves of tiles at the rate that a tile of this size reaches, no less than the latency of its
// chain of steps, no less than the bytes; and what dividing K costs.
double estimate_us(const MmaCase& c, const KernelContext& context) {
  const MmaVariant& v = c.variant;
  double peak = c.type == DataType::float16 ? context.info.float16_flops : context.info.tf32_flops;
  double area = static_cast<double>(v.bm) * v.bn;
  double share = std::min(0.65, 0.12 + 0.09 * std::log2(area / 512.0));
  double steps = static_cast<double>(divide_up(c.steps(), c.slices()));
  double tile_us = 1e6 * 2 * area * static_cast<double>(c.bk()) * steps /
                   (peak * share / context.info.compute_units);
  int64_t blocks = c.tiles_m() * c.tiles_k() * c.slices();
  int64_t fit = std::max<int64_t>(
      1, std::min<int64_t>(context.limits.shared_kib_per_sm * 1024 / (shared_bytes_of(v) + 1024),
                           context.limits.threads_per_sm / threads_of(v)));
  double each = static_cast<double>(divide_up(blocks, context.info.compute_units));
  double rounds = std::ceil(each / static_cast<double>(fit));
  constexpr double kStepUs = 0.15, kStartUs = 2.5;
  double compute = std::max(each * tile_us, rounds * steps * kStepUs);
  double bytes = conv_bytes(c.shape, c.type);
  double parts =
      v.slices > 1 ? 2.0 * 4 * static_cast<double>(v.slices * c.shape.m() * c.tiles_k() * v.bn) : 0;
  return kStartUs + std::max(compute, context.memory_us(bytes, 0)) +
         context.memory_us(parts, v.slices > 1 ? 1 : 0) + (v.cluster > 1 ? 1.0 : 0.0);
}

Status why_not(const ConvShape& shape, const KernelContext& context) {
  if (context.info.compute_capability < 75) return no_kernel("no mma.sync below 7.5");
  if (shape.groups != 1) return no_kernel("groups");
  if (shape.r > 32 || shape.s > 32) return no_kernel("a filter larger than 32");
  if (shape.c_pitch() % 8 || shape.k_pitch() % 8)
    return no_kernel("a product whose sizes are no multiples of 8");
  return {};
}

std::string id_of(const MmaVariant& v, DataType type) {
  return std::string("conv_mma/") + (type == DataType::float16 ? "fp16_" : "tf32_") + v.name;
}

std::vector<DataType> types_of(const KernelContext& context) {
  std::vector<DataType> types;
  if (context.allows(Precision::fp16)) types.push_back(DataType::float16);
  if (context.allows(Precision::tf32) && context.info.compute_capability >= 80)
    types.push_back(DataType::float32);
  return types;
}

KernelProgram make_program(const MmaCase& c, const EpilogueCode& epilogue) {
  const MmaVariant& v = c.variant;
  KernelProgram program;
  define_types(program, c.type, c.type);
  program.define("BM", v.bm), program.define("BN", v.bn), program.define("BKB", v.row_bytes);
  program.define("BK", c.bk()), program.define("STAGES", v.stages);
  program.define("WM", v.wm), program.define("WN", v.wn);
  program.define("SPLIT", v.cluster), program.define("PARTIAL", v.slices > 1),
      program.define("PART_VECTOR", 8);
  program.define("POINTWISE", c.shape.pointwise()), program.define("FLAT", c.shape.flat(c.bk()));
  program.functions = epilogue_text(epilogue);
  program.files = {"warp.cuh", "conv_index.cuh", "conv_mma.cuh", "conv_parts.cuh"};
  return program;
}

}  // namespace

Status offer_conv_mma(const Problem& problem, const KernelContext& context,
                      std::vector<Tactic>& out) {
  TRY(ConvShape shape, conv_shape(problem));
  CHECK_OK(why_not(shape, context));
  std::vector<DataType> types = types_of(context);
  if (types.empty()) return no_kernel("neither fp16 nor tf32 is allowed");
  for (DataType type : types) {
    TRY(LoweredEpilogue epilogue, lower_conv_epilogue(problem, shape, type));
    for (const MmaVariant& variant : mma_variants()) {
      MmaCase c{shape, variant, type};
      if (!serves(c, context)) continue;
      Tactic tactic = make_conv_tactic(problem, shape, epilogue, id_of(variant, type));
      tactic.compute = type == DataType::float16 ? Precision::fp16 : Precision::tf32;
      if (variant.slices > 1)
        tactic.workspace_bytes = 4 * variant.slices * shape.m() * c.tiles_k() * variant.bn;
      tactic.estimated_us = estimate_us(c, context);
      out.push_back(std::move(tactic));
    }
  }
  return {};
}

Result<KernelPlan> plan_conv_mma(const Problem& problem, const Tactic& tactic,
                                 const KernelContext& context) {
  TRY(ConvShape shape, conv_shape(problem));
  CHECK_OK(why_not(shape, context));
  DataType type = tactic.inputs[0].type;
  const MmaVariant* variant = nullptr;
  for (const MmaVariant& v : mma_variants()) {
    if (id_of(v, type) == tactic.id) variant = &v;
  }
  if (!variant) return no_variant(tactic);
  MmaCase c{shape, *variant, type};
  if (!serves(c, context)) return no_variant(tactic);
  TRY(LoweredEpilogue epilogue, lower_conv_epilogue(problem, shape, type));
  KernelPlan plan;
  plan.program = make_program(c, epilogue.code);
  gpu::ConvArgs args = conv_args(shape);
  args.steps = static_cast<int>(c.steps()), args.slices = static_cast<int>(c.slices());
  args.tiles_k = static_cast<int>(c.tiles_k()), args.by_tiles_k = make_divisor(c.tiles_k());
  args.w_pitch = static_cast<int>(c.steps() * c.bk());
  int weights =
      plan.add_constant(pack_filter(shape, type, c.bk(), variant->bn, type == DataType::float32));
  KernelLaunch launch;
  launch.grid = {static_cast<unsigned>(c.tiles_m() * c.tiles_k()), 1,
                 static_cast<unsigned>(c.slices())};
  launch.threads = static_cast<unsigned>(threads_of(*variant));
  launch.shared_bytes = static_cast<unsigned>(shared_bytes_of(*variant));
  launch.arguments = argument_bytes(args);
  launch.slots = conv_slots(weights);
  attach_epilogue(epilogue, offsetof(gpu::ConvArgs, epilogue), plan, launch);
  if (variant->slices > 1)
    add_parts(shape, 4 * variant->slices * shape.m() * c.tiles_k() * variant->bn, 8, plan, launch);
  plan.launches.push_back(std::move(launch));
  return plan;
}

}  // namespace enginery
