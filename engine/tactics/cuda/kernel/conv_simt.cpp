// Families conv_simt and conv_direct: convolutions and products without tensor cores, on every SM.
#include <algorithm>

#include "engine/kernels/cuda/variants.h"
#include "engine/tactics/cuda/kernel/conv_shape.h"

namespace enginery {
namespace {

std::string simt_id(const SimtVariant& v) {
  return std::string("conv_simt/") + v.name;
}

Status why_not_simt(const ConvShape& shape) {
  if (shape.groups != 1) return no_kernel("groups");
  if (shape.r > 32 || shape.s > 32) return no_kernel("a filter larger than 32");
  if (shape.c_pitch() % 4 || shape.k_pitch() % 4)
    return no_kernel("a product whose sizes are no multiples of 4");
  return {};
}

// A slice without steps would write nothing.
bool serves(const ConvShape& shape, const SimtVariant& v) {
  return v.slices == 1 || filter_steps(shape, v.bk) >= 2 * v.slices;
}

int64_t parts_bytes(const ConvShape& shape, const SimtVariant& v) {
  return v.slices == 1 ? 0 : 4 * v.slices * shape.m() * divide_up(shape.k_pitch(), v.bn) * v.bn;
}

double simt_estimate_us(const ConvShape& shape, const SimtVariant& v, DataType type,
                        const KernelContext& context) {
  int64_t blocks = divide_up(shape.m(), v.bm) * divide_up(shape.k_pitch(), v.bn) * v.slices;
  double area = static_cast<double>(v.bm) * v.bn;
  double share = area >= 8192 ? 0.7 : area >= 4096 ? 0.55 : 0.35;
  double each = static_cast<double>(divide_up(blocks, context.info.compute_units));
  double steps = static_cast<double>(divide_up(filter_steps(shape, v.bk), v.slices)),
         depth = steps * v.bk;
  double compute = 1e6 * each * 2 * area * depth /
                   (context.info.float32_flops * share / context.info.compute_units);
  constexpr double kStartUs = 2.5, kStepUs = 0.4;
  double parts_us =
      v.slices > 1 ? context.memory_us(2.0 * static_cast<double>(parts_bytes(shape, v)), 1) : 0;
  return kStartUs +
         std::max({compute, steps * kStepUs, context.memory_us(conv_bytes(shape, type), 0)}) +
         parts_us;
}

// [r][s][c of the group][k], float32.
PackConstant pack_direct(const ConvShape& shape) {
  return [shape](Weights weights) {
    std::vector<float> krsc = filter_krsc(shape, *weights[1]);
    int64_t inner = shape.r * shape.s * (shape.c / shape.groups);
    std::vector<float> out(krsc.size());
    for (int64_t k = 0; k < shape.k; ++k) {
      for (int64_t i = 0; i < inner; ++i)
        out[static_cast<size_t>(i * shape.k + k)] = krsc[static_cast<size_t>(k * inner + i)];
    }
    return bytes_of_values(out);
  };
}

}  // namespace

Status offer_conv_simt(const Problem& problem, const KernelContext& context,
                       std::vector<Tactic>& out) {
  TRY(ConvShape shape, conv_shape(problem));
  CHECK_OK(why_not_simt(shape));
  for (DataType type : context.storage_types()) {
    TRY(LoweredEpilogue epilogue, lower_conv_epilogue(problem, shape, type));
    for (const SimtVariant& variant : simt_variants()) {
      if (!serves(shape, variant)) continue;
      Tactic tactic = make_conv_tactic(problem, shape, epilogue, simt_id(variant));
      tactic.workspace_bytes = parts_bytes(shape, variant);
      tactic.estimated_us = simt_estimate_us(shape, variant, type, context);
      out.push_back(std::move(tactic));
    }
  }
  return {};
}

Result<KernelPlan> plan_conv_simt(const Problem& problem, const Tactic& tactic,
                                  const KernelContext&) {
  TRY(ConvShape shape, conv_shape(problem));
  CHECK_OK(why_not_simt(shape));
  const SimtVariant* variant = nullptr;
  for (const SimtVariant& v : simt_variants()) {
    if (simt_id(v) == tactic.id) variant = &v;
  }
  if (!variant || !serves(shape, *variant)) return no_variant(tactic);
  DataType type = tactic.inputs[0].type;
  TRY(LoweredEpilogue epilogue, lower_conv_epilogue(problem, shape, type));
  KernelPlan plan;
  define_types(plan.program, type, type);
  plan.program.define("BM", variant->bm), plan.program.define("BN", variant->bn);
  plan.program.define("BK", variant->bk), plan.program.define("TM", variant->tm);
  plan.program.define("POINTWISE", shape.pointwise()),
      plan.program.define("FLAT", shape.flat(variant->bk));
  plan.program.define("PARTIAL", variant->slices > 1), plan.program.define("PART_VECTOR", 4);
  plan.program.functions = epilogue_text(epilogue.code);
  plan.program.files = {"conv_index.cuh", "conv_simt.cuh", "conv_parts.cuh"};
  gpu::ConvArgs args = conv_args(shape);
  int64_t tiles_m = divide_up(shape.m(), variant->bm),
          tiles_k = divide_up(shape.k_pitch(), variant->bn);
  args.steps = static_cast<int>(filter_steps(shape, variant->bk));
  args.tiles_k = static_cast<int>(tiles_k), args.by_tiles_k = make_divisor(tiles_k);
  args.w_pitch = args.steps * variant->bk;
  args.slices = variant->slices;
  KernelLaunch launch;
  launch.grid = {static_cast<unsigned>(tiles_m * tiles_k), 1,
                 static_cast<unsigned>(variant->slices)};
  launch.threads = static_cast<unsigned>(variant->bm / variant->tm * (variant->bn / 8));
  launch.arguments = argument_bytes(args);
  launch.slots =
      conv_slots(plan.add_constant(pack_filter(shape, type, variant->bk, variant->bn, false)));
  attach_epilogue(epilogue, offsetof(gpu::ConvArgs, epilogue), plan, launch);
  if (variant->slices > 1) add_parts(shape, parts_bytes(shape, *variant), 4, plan, launch);
  plan.launches.push_back(std::move(launch));
  return plan;
}

Status offer_conv_direct(const Problem& problem, const KernelContext& context,
                         std::vector<Tactic>& out) {
  TRY(ConvShape shape, conv_shape(problem));
  for (DataType type : context.storage_types()) {
    TRY(LoweredEpilogue epilogue, lower_conv_epilogue(problem, shape, type));
    Tactic tactic = make_conv_tactic(problem, shape, epilogue, "conv_direct/any");
    constexpr double kShare = 0.02;
    double depth_us = 0.05 * static_cast<double>(shape.r * shape.s * shape.c / shape.groups);
    tactic.estimated_us = std::max(context.memory_us(conv_bytes(shape, type)), depth_us) +
                          1e6 * shape.flops() / (kShare * context.info.float32_flops);
    out.push_back(std::move(tactic));
  }
  return {};
}

Result<KernelPlan> plan_conv_direct(const Problem& problem, const Tactic& tactic,
                                    const KernelContext&) {
  TRY(ConvShape shape, conv_shape(problem));
  DataType type = tactic.inputs[0].type;
  TRY(LoweredEpilogue epilogue, lower_conv_epilogue(problem, shape, type));
  KernelPlan plan;
  define_types(plan.program, type, type);
  plan.program.functions = epilogue_text(epilogue.code);
  plan.program.files = {"conv_direct.cuh"};
  add_untiled_launch(shape, 1, pack_direct(shape), epilogue, plan);
  return plan;
}

}  // namespace enginery
