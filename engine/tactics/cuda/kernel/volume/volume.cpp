// Family volume: convolutions and pooling whose windows reach along three dimensions, straight from
// their definition (conv_volume.cuh, pool_volume.cuh). Windows that reach along fewer are other
// families' (window_sides.h).
#include <algorithm>

#include "engine/tactics/cuda/kernel/conv_launch.h"
#include "engine/tactics/cuda/kernel/families.h"
#include "engine/tactics/cuda/kernel/text/epilogue_text.h"
#include "engine/tactics/cuda/kernel/volume/args.h"

namespace enginery {
namespace {

struct VolumeVariant {
  int threads;  // of a block
};

constexpr VolumeVariant kVolumeVariants[] = {{256}};

std::string id_of(const VolumeVariant& v) {
  return id_by_threads("volume/any", v.threads, 256);
}

constexpr int64_t kPooledAtOnce = 8;  // channels a thread

// `planes`: as rows of pixels of one picture, all planes' below each other; of the filter, too.
struct VolumeShape {
  ConvShape planes;
  std::vector<WindowSide> sides;  // three
  const Pooling* pooling = nullptr;
};

Status require_three(const std::vector<WindowSide>& sides) {
  if (sides.size() != 3) return refusal("no three dimensions");
  return plane_window(1, sides).ok() ? Status(refusal("a window along fewer dimensions"))
                                     : Status();
}

Result<VolumeShape> shape_of(const Problem& problem, std::vector<WindowSide> sides) {
  CHECK_OK(require_three(sides));
  VolumeShape out;
  ConvShape& s = out.planes;
  const Dims &x = input_dims(problem, 0), &y = output_dims(problem);
  s.n = s.images = x[0], s.c = x[1], s.k = y[1];
  s.h = sides[0].in * sides[1].in, s.p = sides[0].out * sides[1].out;
  s.r = sides[0].taps * sides[1].taps;
  s.w = sides[2].in, s.q = sides[2].out, s.s = sides[2].taps;
  out.sides = std::move(sides);
  return out;
}

Result<VolumeShape> volume_shape(const Problem& problem) {
  if (const auto* op = std::get_if<Convolution>(&problem.op)) {
    CHECK_OK(require_product(problem));
    const Dims &x = input_dims(problem, 0), &w = input_dims(problem, 1);
    TRY(VolumeShape out, shape_of(problem, window_sides(*op, x, w, output_dims(problem))));
    out.planes.groups = op->groups;
    if (problem.anchor_inputs > 2 && problem.inputs[2].present) out.planes.bias.input = 2;
    return out;
  }
  const auto* op = std::get_if<Pooling>(&problem.op);
  if (!op || problem.outputs.size() != 1) return refusal("no convolution and no pooling");
  CHECK_OK(require_static(problem));
  CHECK_OK(require_run_time_data(problem));
  const Dims &x = input_dims(problem, 0), &y = output_dims(problem);
  if (!is_floating(problem.inputs[0].type.type) || volume(x) == 0 || volume(y) == 0)
    return refusal("integers or no elements");
  TRY(VolumeShape out, shape_of(problem, window_sides(*op, x, y)));
  out.pooling = op;
  return out;
}

double estimate_us(const VolumeShape& shape, DataType type, const KernelContext& context) {
  constexpr double kShare = 0.02, kStepUs = 0.05;  // of the peak; of one step of a thread's sum
  const ConvShape& s = shape.planes;
  const double memory = context.memory_us(conv_bytes(s, type));
  if (shape.pooling) return memory + kStepUs * static_cast<double>(s.r * s.s);
  const double depth_us = kStepUs * static_cast<double>(s.r * s.s * s.c / s.groups);
  return std::max(memory, depth_us) + 1e6 * s.flops() / (kShare * context.info.float32_flops);
}

Status offer_volume(const Problem& problem, const KernelContext& context,
                    std::vector<Tactic>& out) {
  TRY(const VolumeShape shape, volume_shape(problem));
  for (const DataType type : context.storage_types()) {
    TRY(const LoweredEpilogue epilogue, lower_conv_epilogue(problem, shape.planes, type));
    for (const VolumeVariant& variant : kVolumeVariants) {
      Tactic tactic = make_conv_tactic(problem, shape.planes, epilogue, id_of(variant));
      tactic.estimated_us = estimate_us(shape, type, context);
      out.push_back(std::move(tactic));
    }
  }
  return {};
}

gpu::VolumeArgs volume_args(const VolumeShape& shape) {
  gpu::VolumeArgs a{};
  for (size_t i = 0; i < shape.sides.size(); ++i) {
    const WindowSide& side = shape.sides[i];
    a.side[i] = {to_int(side.in),       to_int(side.taps), to_int(side.stride),
                 to_int(side.dilation), to_int(side.pad),  to_int(side.pad_end)};
  }
  const ConvShape& s = shape.planes;
  a.c = to_int(s.c_pitch()), a.ldy = to_int(s.k_pitch()), a.k = to_int(s.k);
  a.group_c = to_int(s.c / s.groups), a.group_k = to_int(s.k / s.groups);
  a.total = s.m() * s.k_pitch() / (shape.pooling ? kPooledAtOnce : 1);
  a.by_z = make_divisor(shape.sides[0].out);
  a.by_p = make_divisor(shape.sides[1].out);
  a.by_q = make_divisor(shape.sides[2].out);
  return a;
}

Result<KernelPlan> plan_volume(const Problem& problem, const Tactic& tactic, const KernelContext&) {
  const VolumeVariant* variant = find_variant(kVolumeVariants, tactic);
  if (!variant) return no_variant(tactic);
  TRY(const VolumeShape shape, volume_shape(problem));
  const DataType type = tactic.inputs[0].type;
  TRY(const LoweredEpilogue epilogue, lower_conv_epilogue(problem, shape.planes, type));
  KernelPlan plan;
  define_types(plan.program, type, type);
  plan.program.define("THREADS", variant->threads);
  plan.program.functions = epilogue_text(epilogue.code);
  plan.program.files = {"volume/args.h", "volume/place.cuh"};
  const gpu::VolumeArgs args = volume_args(shape);
  KernelLaunch launch = launch_of(args, args.total, static_cast<unsigned>(variant->threads));
  launch.slots = {{offsetof(gpu::VolumeArgs, x), PointerSource::input, 0},
                  {offsetof(gpu::VolumeArgs, y), PointerSource::output, 0}};
  if (shape.pooling) {
    plan.program.define("WIDTH", kPooledAtOnce);
    plan.program.define("MAXIMUM", shape.pooling->kind == PoolKind::max);
    plan.program.define("COUNT_PADDING", shape.pooling->count_padding);
    plan.program.files.push_back("volume/pool_volume.cuh");
  } else {
    const int weights = plan.add_constant(pack_for_lanes_of_k(shape.planes));
    launch.slots.push_back({offsetof(gpu::VolumeArgs, w), PointerSource::constant, weights});
    plan.program.files.push_back("volume/conv_volume.cuh");
  }
  attach_epilogue(epilogue, offsetof(gpu::VolumeArgs, epilogue), plan, launch);
  plan.launches.push_back(std::move(launch));
  return plan;
}

}  // namespace

const KernelFamily kVolumeFamily{"volume", offer_volume, plan_volume};

}  // namespace enginery
