// Family conv_mma: implicit GEMM on tensor cores (conv_mma.cuh).
#include <algorithm>
#include <cmath>

#include "engine/tactics/cuda/kernel/conv_launch.h"
#include "engine/tactics/cuda/kernel/conv_mma/variants.h"
#include "engine/tactics/cuda/kernel/families.h"
#include "engine/tactics/cuda/kernel/text/epilogue_text.h"

namespace enginery {
namespace {

// Channels that a thread of the second launch of split-K adds up.
constexpr int64_t kMmaSumVector = 8;

struct MmaCase {
  ConvShape shape;
  MmaVariant variant;
  DataType type = DataType::float16;
  int64_t bk() const { return variant.row_bytes / element_bytes(type); }
  int64_t tiles_m() const { return divide_up(shape.m(), variant.bm); }
  int64_t tiles_k() const { return divide_up(shape.k_pitch(), variant.bn); }
  int64_t steps() const { return filter_steps(shape, bk()); }
  int64_t parts() const { return variant.parts(); }
  int64_t workspace_bytes() const { return partial_sum_bytes(shape, variant.split_k, variant.bn); }
};

bool serves(const MmaCase& c, const KernelContext& context) {
  const MmaVariant& v = c.variant;
  // Newer SMs have the asynchronous copies that variants of two stages do without.
  if (context.info.compute_capability < v.min_sm) return false;
  if (context.info.compute_capability >= 80 && v.min_sm < 80) return false;
  if (shared_bytes_of(v) > context.limits.shared_kib_per_block * 1024) return false;
  if (c.parts() > 1 && c.steps() < 2 * c.parts()) return false;
  return c.tiles_m() * c.tiles_k() < (int64_t{1} << 31);
}

// Waves of tiles at the rate that a tile of this size reaches, no less than the latency of its
// chain of steps, no less than the bytes; and what dividing K costs.
double estimate_us(const MmaCase& c, const KernelContext& context) {
  const MmaVariant& v = c.variant;
  double peak = c.type == DataType::float16 ? context.info.float16_flops : context.info.tf32_flops;
  double area = static_cast<double>(v.bm) * v.bn;
  double share = std::min(0.65, 0.12 + 0.09 * std::log2(area / 512.0));
  double steps = static_cast<double>(divide_up(c.steps(), c.parts()));
  double tile_us = 1e6 * 2 * area * static_cast<double>(c.bk()) * steps /
                   (peak * share / context.info.compute_units);
  int64_t blocks = c.tiles_m() * c.tiles_k() * c.parts();
  int64_t fit = std::max<int64_t>(
      1, std::min<int64_t>(context.limits.shared_kib_per_sm * 1024 / (shared_bytes_of(v) + 1024),
                           context.limits.threads_per_sm / threads_of(v)));
  double each = static_cast<double>(divide_up(blocks, context.info.compute_units));
  double rounds = std::ceil(each / static_cast<double>(fit));
  constexpr double kStepUs = 0.15, kStartUs = 2.5;
  double compute = std::max(each * tile_us, rounds * steps * kStepUs);
  double bytes = conv_bytes(c.shape, c.type);
  // Partial sums are written and read once, and the second launch costs one.
  double sums = 2.0 * static_cast<double>(c.workspace_bytes());
  return kStartUs + std::max(compute, context.memory_us(bytes, 0)) +
         context.memory_us(sums, v.split_k > 1 ? 1 : 0) + (v.cluster > 1 ? 1.0 : 0.0);
}

Status why_not(const ConvShape& shape, const KernelContext& context) {
  if (context.info.compute_capability < 75) return refusal("no mma.sync below 7.5");
  if (shape.groups != 1) return refusal("groups");
  if (shape.r > 32 || shape.s > 32) return refusal("a filter larger than 32");
  if (shape.c_pitch() % 8 || shape.k_pitch() % 8)
    return refusal("a matrix product whose sizes are no multiples of 8");
  return {};
}

std::string mma_id(const MmaVariant& v, DataType type) {
  return std::string("conv_mma/") + (type == DataType::float16 ? "fp16_" : "tf32_") + name_of(v);
}

std::vector<DataType> mma_types(const KernelContext& context) {
  std::vector<DataType> types;
  if (context.allows(Precision::fp16)) types.push_back(DataType::float16);
  if (context.allows(Precision::tf32) && context.info.compute_capability >= 80)
    types.push_back(DataType::float32);
  return types;
}

KernelProgram mma_program(const MmaCase& c, const FusedEpilogue& epilogue) {
  const MmaVariant& v = c.variant;
  KernelProgram program;
  define_types(program, c.type, c.type);
  program.define("BM", v.bm);
  program.define("BN", v.bn);
  program.define("BKB", v.row_bytes);
  program.define("BK", c.bk());
  program.define("STAGES", v.stages);
  program.define("WM", v.wm);
  program.define("WN", v.wn);
  program.define("CLUSTER", v.cluster);
  program.define("SPLIT_K", v.split_k > 1);
  program.define("SUM_VECTOR", kMmaSumVector);
  program.define("POINTWISE", c.shape.pointwise());
  program.define("FLAT", c.shape.flat(c.bk()));
  program.functions = epilogue_text(epilogue);
  program.files = {"text/warp.cuh", "text/conv_index.cuh", "conv_mma/conv_mma.cuh",
                   "text/split_k.cuh"};
  return program;
}

Status offer_conv_mma(const Problem& problem, const KernelContext& context,
                      std::vector<Tactic>& out) {
  TRY(const ConvShape shape, conv_shape(problem));
  CHECK_OK(why_not(shape, context));
  const std::vector<DataType> types = mma_types(context);
  if (types.empty()) return refusal("neither fp16 nor tf32 is allowed");
  for (DataType type : types) {
    TRY(const LoweredEpilogue epilogue, lower_conv_epilogue(problem, shape, type));
    for (const MmaVariant& variant : mma_variants()) {
      const MmaCase c{shape, variant, type};
      if (!serves(c, context)) continue;
      Tactic tactic = make_conv_tactic(problem, shape, epilogue, mma_id(variant, type));
      tactic.compute = type == DataType::float16 ? Precision::fp16 : Precision::tf32;
      tactic.workspace_bytes = c.workspace_bytes();
      tactic.estimated_us = estimate_us(c, context);
      tactic.writes_pitched = !shape.gemm;
      out.push_back(std::move(tactic));
    }
  }
  return {};
}

// The case that a tactic of the problem is.
Result<MmaCase> mma_case(const Problem& problem, const Tactic& tactic,
                         const KernelContext& context) {
  TRY(const ConvShape shape, conv_shape(problem));
  CHECK_OK(why_not(shape, context));
  const DataType type = tactic.inputs[0].type;
  for (const MmaVariant& variant : mma_variants()) {
    const MmaCase c{shape, variant, type};
    if (mma_id(variant, type) == tactic.id && serves(c, context)) return c;
  }
  return no_variant(tactic);
}

Result<KernelPlan> plan_conv_mma(const Problem& problem, const Tactic& tactic,
                                 const KernelContext& context) {
  TRY(const MmaCase c, mma_case(problem, tactic, context));
  const MmaVariant& v = c.variant;
  TRY(const LoweredEpilogue epilogue, lower_conv_epilogue(problem, c.shape, c.type));
  KernelPlan plan;
  plan.program = mma_program(c, epilogue.code);
  gpu::ConvArgs args = conv_args(c.shape);
  CHECK_OK(write_with_pitch(c.shape, tactic, plan.program, args));
  args.steps = to_int(c.steps());
  args.split_k = to_int(c.parts());
  args.tiles_k = to_int(c.tiles_k());
  args.by_tiles_k = make_divisor(c.tiles_k());
  args.w_pitch = to_int(c.steps() * c.bk());
  const bool round_to_tf32 = c.type == DataType::float32;
  const int weights = plan.add_constant(pack_filter(c.shape, c.type, c.bk(), v.bn, round_to_tf32));
  KernelLaunch launch;
  launch.grid = {static_cast<unsigned>(c.tiles_m() * c.tiles_k()), 1,
                 static_cast<unsigned>(c.parts())};
  launch.threads = static_cast<unsigned>(threads_of(v));
  launch.shared_bytes = static_cast<unsigned>(shared_bytes_of(v));
  launch.arguments = argument_bytes(args);
  launch.slots = conv_slots(weights);
  attach_epilogue(epilogue, offsetof(gpu::ConvArgs, epilogue), plan, launch);
  if (v.split_k > 1) add_split_k(c.shape, c.workspace_bytes(), kMmaSumVector, plan, launch);
  plan.launches.push_back(std::move(launch));
  return plan;
}

}  // namespace

const KernelFamily kConvMmaFamily{"conv_mma", offer_conv_mma, plan_conv_mma, true};

}  // namespace enginery
