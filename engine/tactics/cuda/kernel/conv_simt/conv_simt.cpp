// Family conv_simt: convolutions and GEMMs without tensor cores, on every SM (conv_simt.cuh).
#include <algorithm>

#include "engine/tactics/cuda/kernel/conv_launch.h"
#include "engine/tactics/cuda/kernel/families.h"
#include "engine/tactics/cuda/kernel/text/epilogue_text.h"

namespace enginery {
namespace {

// A BM x BN tile, BK along K, TM x 8 outputs a thread; split-K: parts along K whose sums pass
// through memory, in two launches.
struct SimtVariant {
  int bm, bn, bk, tm, split_k;
};

constexpr SimtVariant kSimtVariants[] = {
    {128, 128, 8, 8, 1}, {128, 64, 8, 8, 1}, {64, 64, 16, 8, 1}, {64, 32, 16, 4, 1},
    {32, 32, 16, 4, 1},  {128, 64, 8, 8, 4}, {64, 64, 16, 8, 4}, {64, 64, 16, 8, 8},
    {64, 64, 16, 8, 16}, {32, 32, 16, 4, 4}, {32, 32, 16, 4, 8},
};

// Channels that a thread of the second launch of split-K adds up.
constexpr int64_t kSimtSumVector = 4;

std::string id_of(const SimtVariant& v) {
  const int usual_tm = v.bm * v.bn >= 4096 ? 8 : 4;
  std::string id =
      "conv_simt/" + std::to_string(v.bm) + "x" + std::to_string(v.bn) + "x" + std::to_string(v.bk);
  if (v.tm != usual_tm) id += "_m" + std::to_string(v.tm);
  if (v.split_k > 1) id += "_k" + std::to_string(v.split_k);
  return id;
}

Status require_simt(const ConvShape& shape) {
  if (shape.groups != 1) return refusal("groups");
  if (shape.r > 32 || shape.s > 32) return refusal("a filter larger than 32");
  if (shape.c_pitch() % 4 || shape.k_pitch() % 4)
    return refusal("a matrix product whose sizes are no multiples of 4");
  return {};
}

// A part without steps would write nothing.
bool serves(const ConvShape& shape, const SimtVariant& v) {
  return v.split_k == 1 || filter_steps(shape, v.bk) >= 2 * v.split_k;
}

int64_t simt_workspace_bytes(const ConvShape& shape, const SimtVariant& v) {
  return partial_sum_bytes(shape, v.split_k, v.bn);
}

double simt_estimate_us(const ConvShape& shape, const SimtVariant& v, DataType type,
                        const KernelContext& context) {
  int64_t blocks = divide_up(shape.m(), v.bm) * divide_up(shape.k_pitch(), v.bn) * v.split_k;
  double area = static_cast<double>(v.bm) * v.bn;
  double share = area >= 8192 ? 0.7 : area >= 4096 ? 0.55 : 0.35;
  double each = static_cast<double>(divide_up(blocks, context.info.compute_units));
  double steps = static_cast<double>(divide_up(filter_steps(shape, v.bk), v.split_k));
  double depth = steps * v.bk;
  double compute = 1e6 * each * 2 * area * depth /
                   (context.info.float32_flops * share / context.info.compute_units);
  constexpr double kStartUs = 2.5, kStepUs = 0.4;
  double sums_us = v.split_k > 1 ? context.memory_us(
                                       2.0 * static_cast<double>(simt_workspace_bytes(shape, v)), 1)
                                 : 0;
  return kStartUs +
         std::max({compute, steps * kStepUs, context.memory_us(conv_bytes(shape, type), 0)}) +
         sums_us;
}

Status offer_conv_simt(const Problem& problem, const KernelContext& context,
                       std::vector<Tactic>& out) {
  TRY(const ConvShape shape, conv_shape(problem));
  CHECK_OK(require_simt(shape));
  for (DataType type : context.storage_types()) {
    TRY(const LoweredEpilogue epilogue, lower_conv_epilogue(problem, shape, type));
    for (const SimtVariant& variant : kSimtVariants) {
      if (!serves(shape, variant)) continue;
      Tactic tactic = make_conv_tactic(problem, shape, epilogue, id_of(variant));
      tactic.workspace_bytes = simt_workspace_bytes(shape, variant);
      tactic.estimated_us = simt_estimate_us(shape, variant, type, context);
      tactic.writes_pitched = !shape.gemm;
      out.push_back(std::move(tactic));
    }
  }
  return {};
}

KernelProgram simt_program(const ConvShape& shape, const SimtVariant& v,
                           const FusedEpilogue& epilogue) {
  KernelProgram program;
  define_types(program, epilogue.output, epilogue.output);
  program.define("BM", v.bm);
  program.define("BN", v.bn);
  program.define("BK", v.bk);
  program.define("TM", v.tm);
  program.define("POINTWISE", shape.pointwise());
  program.define("FLAT", shape.flat(v.bk));
  program.define("SPLIT_K", v.split_k > 1);
  program.define("SUM_VECTOR", kSimtSumVector);
  program.functions = epilogue_text(epilogue);
  program.files = {"text/conv_index.cuh", "conv_simt/conv_simt.cuh", "text/split_k.cuh"};
  return program;
}

Result<KernelPlan> plan_conv_simt(const Problem& problem, const Tactic& tactic,
                                  const KernelContext&) {
  TRY(const ConvShape shape, conv_shape(problem));
  CHECK_OK(require_simt(shape));
  const SimtVariant* v = find_variant(kSimtVariants, tactic);
  if (!v || !serves(shape, *v)) return no_variant(tactic);
  const DataType type = tactic.inputs[0].type;
  TRY(const LoweredEpilogue epilogue, lower_conv_epilogue(problem, shape, type));
  KernelPlan plan;
  plan.program = simt_program(shape, *v, epilogue.code);
  gpu::ConvArgs args = conv_args(shape);
  CHECK_OK(write_with_pitch(shape, tactic, plan.program, args));
  const int64_t tiles_m = divide_up(shape.m(), v->bm), tiles_k = divide_up(shape.k_pitch(), v->bn);
  args.steps = to_int(filter_steps(shape, v->bk));
  args.tiles_k = to_int(tiles_k);
  args.by_tiles_k = make_divisor(tiles_k);
  args.w_pitch = args.steps * v->bk;
  args.split_k = v->split_k;
  KernelLaunch launch;
  launch.grid = {static_cast<unsigned>(tiles_m * tiles_k), 1, static_cast<unsigned>(v->split_k)};
  launch.threads = static_cast<unsigned>(v->bm / v->tm * (v->bn / 8));
  launch.arguments = argument_bytes(args);
  launch.slots = conv_slots(plan.add_constant(pack_filter(shape, type, v->bk, v->bn, false)));
  attach_epilogue(epilogue, offsetof(gpu::ConvArgs, epilogue), plan, launch);
  if (v->split_k > 1)
    add_split_k(shape, simt_workspace_bytes(shape, *v), kSimtSumVector, plan, launch);
  plan.launches.push_back(std::move(launch));
  return plan;
}

}  // namespace

const KernelFamily kConvSimtFamily{"conv_simt", offer_conv_simt, plan_conv_simt, true};

}  // namespace enginery
