// Family depthwise: convolutions that keep channels apart (depthwise.cuh).
#include <algorithm>

#include "engine/tactics/cuda/kernel/conv_launch.h"
#include "engine/tactics/cuda/kernel/families.h"
#include "engine/tactics/cuda/kernel/text/epilogue_text.h"
#include "engine/tactics/cuda/kernel/window_launch.h"

namespace enginery {
namespace {

struct DepthwiseVariant {
  int strip;  // outputs along a row that one thread computes
};

constexpr DepthwiseVariant kDepthwiseVariants[] = {{1}, {2}, {4}, {8}};

std::string id_of(const DepthwiseVariant& v) {
  return "depthwise/strip" + std::to_string(v.strip);
}

Result<ConvShape> depthwise_shape(const Problem& problem) {
  TRY(ConvShape shape, conv_shape(problem));
  if (shape.gemm || shape.groups != shape.c || shape.k != shape.c || shape.c == 1)
    return refusal("not depthwise");
  if (shape.r * shape.s > 49) return refusal("a depthwise filter larger than 7x7");
  return shape;
}

// [r][s][c padded], float32.
PackConstant pack_depthwise(const ConvShape& shape) {
  return [shape](Weights weights) {
    std::vector<float> krs = filter_krsc(shape, *weights[1]);
    int64_t rs = shape.r * shape.s, pitch = padded_to_8(shape.c);
    std::vector<float> out(static_cast<size_t>(rs * pitch), 0.0f);
    for (int64_t c = 0; c < shape.c; ++c) {
      for (int64_t i = 0; i < rs; ++i)
        out[static_cast<size_t>(i * pitch + c)] = krs[static_cast<size_t>(c * rs + i)];
    }
    return bytes_of_values(out);
  };
}

// Channels a thread: 16 bytes.
int depthwise_width(DataType type) {
  return type == DataType::float16 ? 8 : 4;
}

double estimate_us(const ConvShape& shape, const DepthwiseVariant& v, DataType type,
                   const KernelContext& context) {
  const double reread = 0.1 * static_cast<double>(shape.r * shape.s) / v.strip;
  const double threads =
      static_cast<double>(shape.n * shape.p * divide_up(shape.q, v.strip) * padded_to_8(shape.c)) /
      depthwise_width(type);
  const double fill = std::min(1.0, threads / (512.0 * context.info.compute_units));
  return context.memory_us(window_bytes(shape, type) * (1 + reread) / std::max(fill, 0.1));
}

Status offer_depthwise(const Problem& problem, const KernelContext& context,
                       std::vector<Tactic>& out) {
  TRY(const ConvShape shape, depthwise_shape(problem));
  for (DataType type : context.storage_types()) {
    TRY(const LoweredEpilogue epilogue, lower_conv_epilogue(problem, shape, type));
    for (const DepthwiseVariant& variant : kDepthwiseVariants) {
      if (variant.strip / 2 >= shape.q && variant.strip > 1) continue;
      Tactic tactic = make_conv_tactic(problem, shape, epilogue, id_of(variant));
      tactic.estimated_us = estimate_us(shape, variant, type, context);
      out.push_back(std::move(tactic));
    }
  }
  return {};
}

KernelProgram depthwise_program(const ConvShape& shape, const DepthwiseVariant& v,
                                const FusedEpilogue& epilogue) {
  KernelProgram program;
  define_types(program, epilogue.output, epilogue.output);
  program.define("WIDTH", depthwise_width(epilogue.output));
  program.define("STRIP", v.strip);
  program.define("R", shape.r);
  program.define("S", shape.s);
  program.define("STRIDE_H", shape.stride_h);
  program.define("STRIDE_W", shape.stride_w);
  program.define("DILATION_H", shape.dilation_h);
  program.define("DILATION_W", shape.dilation_w);
  program.functions = epilogue_text(epilogue);
  program.files = {"depthwise/depthwise.cuh"};
  return program;
}

Result<KernelPlan> plan_depthwise(const Problem& problem, const Tactic& tactic,
                                  const KernelContext&) {
  TRY(const ConvShape shape, depthwise_shape(problem));
  const DepthwiseVariant* variant = find_variant(kDepthwiseVariants, tactic);
  if (!variant) return no_variant(tactic);
  const DataType type = tactic.inputs[0].type;
  TRY(const LoweredEpilogue epilogue, lower_conv_epilogue(problem, shape, type));
  const int width = depthwise_width(type);
  KernelPlan plan;
  plan.program = depthwise_program(shape, *variant, epilogue.code);
  gpu::WindowArgs args = window_args(shape);
  args.strips = to_int(divide_up(shape.q, variant->strip));
  args.by_vectors = make_divisor(args.c / width);
  args.by_strips = make_divisor(args.strips);
  args.total = args.n * args.p * args.strips * (args.c / width);
  KernelLaunch launch = launch_of(args, args.total, 128);
  launch.slots = window_slots();
  launch.slots.push_back({offsetof(gpu::WindowArgs, w), PointerSource::constant,
                          plan.add_constant(pack_depthwise(shape))});
  attach_epilogue(epilogue, offsetof(gpu::WindowArgs, epilogue), plan, launch);
  plan.launches.push_back(std::move(launch));
  return plan;
}

}  // namespace

const KernelFamily kDepthwiseFamily{"depthwise", offer_depthwise, plan_depthwise};

}  // namespace enginery
