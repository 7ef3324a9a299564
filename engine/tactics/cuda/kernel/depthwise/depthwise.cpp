// Family depthwise: convolutions that keep channels apart (depthwise.cuh), of floats and of
// quantised numbers, whose sums of a few dozen products are exact in float32.
#include <algorithm>

#include "engine/tactics/cuda/kernel/families.h"
#include "engine/tactics/cuda/kernel/quantized_launch.h"
#include "engine/tactics/cuda/kernel/text/epilogue_text.h"
#include "engine/tactics/cuda/kernel/window_launch.h"

namespace enginery {
namespace {

struct DepthwiseVariant {
  int strip;      // outputs along a row that one thread computes
  int width = 0;  // channels a thread, where more threads are wanted; 0: 16 bytes
};

constexpr DepthwiseVariant kDepthwiseVariants[] = {{1},    {2},    {4},    {8},    {1, 4},
                                                   {1, 2}, {2, 4}, {2, 2}, {4, 4}, {4, 2}};

std::string id_of(const DepthwiseVariant& v) {
  const std::string id = "depthwise/strip" + std::to_string(v.strip);
  return v.width == 0 ? id : id + "_w" + std::to_string(v.width);
}

Status require_depthwise(const ConvShape& shape) {
  if (shape.gemm || shape.groups != shape.c || shape.k != shape.c || shape.c == 1)
    return refusal("not depthwise");
  if (shape.r * shape.s > 49) return refusal("a depthwise filter larger than 7x7");
  return {};
}

// [r][s][c padded], float32.
PackConstant pack_depthwise(const ConvShape& shape) {
  return [shape](Weights weights) {
    std::vector<float> krs = filter_krsc(shape, *weights[1]);
    int64_t rs = shape.r * shape.s, pitch = shape.c_pitch();
    std::vector<float> out(static_cast<size_t>(rs * pitch), 0.0f);
    for (int64_t c = 0; c < shape.c; ++c) {
      for (int64_t i = 0; i < rs; ++i)
        out[static_cast<size_t>(i * pitch + c)] = krs[static_cast<size_t>(c * rs + i)];
    }
    return bytes_of_values(out);
  };
}

// Channels a thread: 16 bytes, of 8 bits half as many for the sake of registers.
int widest(DataType type) {
  return type == DataType::float32 ? 4 : 8;
}
int width_of(const DepthwiseVariant& v, DataType type) {
  return v.width == 0 ? widest(type) : v.width;
}

double estimate_us(const ConvShape& shape, const DepthwiseVariant& v, DataType type,
                   const KernelContext& context) {
  const double reread = 0.1 * static_cast<double>(shape.r * shape.s) / v.strip;
  const double threads =
      static_cast<double>(shape.n * shape.p * divide_up(shape.q, v.strip) * shape.c_pitch()) /
      width_of(v, type);
  const double fill = std::min(1.0, threads / (512.0 * context.info.compute_units));
  return context.memory_us(window_bytes(shape, type) * (1 + reread) / std::max(fill, 0.1));
}

// Of 8 bits one width is enough; a narrower one than 16 bytes where threads are few.
bool serves(const ConvShape& shape, const DepthwiseVariant& v, DataType type) {
  const bool is_width = v.width == 0 || (!is_eight_bits(type) && v.width < widest(type));
  return is_width && (v.strip == 1 || v.strip / 2 < shape.q);
}

// Input and output have the same padding here, whatever the result's type.
Result<QuantizedConv> quantized_depthwise(const Problem& problem) {
  TRY(QuantizedConv conv, quantized_conv(problem));
  CHECK_OK(require_depthwise(conv.shape));
  if (conv.product.addend >= 0) return refusal("an addend");
  conv.shape.k_block = conv.shape.c_block;
  return conv;
}

Status offer_quantized_depthwise(const Problem& problem, const KernelContext& context,
                                 std::vector<Tactic>& out) {
  TRY(const QuantizedConv conv, quantized_depthwise(problem));
  for (const Tactic& formats : quantized_tactics(problem, conv, context)) {
    for (const DepthwiseVariant& variant : kDepthwiseVariants) {
      if (!serves(conv.shape, variant, conv.product.source)) continue;
      Tactic tactic = formats;
      tactic.id = id_of(variant);
      tactic.estimated_us = estimate_us(conv.shape, variant, conv.product.source, context);
      out.push_back(std::move(tactic));
    }
  }
  return {};
}

Status offer_depthwise(const Problem& problem, const KernelContext& context,
                       std::vector<Tactic>& out) {
  if (is_region(problem)) return offer_quantized_depthwise(problem, context, out);
  TRY(const ConvShape shape, conv_shape(problem));
  CHECK_OK(require_depthwise(shape));
  for (DataType type : context.storage_types()) {
    TRY(const LoweredEpilogue epilogue, lower_window_epilogue(problem, shape, type));
    for (const DepthwiseVariant& variant : kDepthwiseVariants) {
      if (!serves(shape, variant, type)) continue;
      Tactic tactic = make_conv_tactic(problem, shape, epilogue, id_of(variant));
      tactic.estimated_us = estimate_us(shape, variant, type, context);
      out.push_back(std::move(tactic));
    }
  }
  return {};
}

KernelProgram depthwise_program(const ConvShape& shape, const DepthwiseVariant& v, DataType type,
                                DataType result, const FusedEpilogue& epilogue) {
  KernelProgram program;
  define_types(program, type, result);
  program.define("WIDTH", width_of(v, type));
  program.define("STRIP", v.strip);
  program.define("R", shape.r);
  program.define("S", shape.s);
  program.define("STRIDE_H", shape.stride_h);
  program.define("STRIDE_W", shape.stride_w);
  program.define("DILATION_H", shape.dilation_h);
  program.define("DILATION_W", shape.dilation_w);
  program.functions = epilogue_text(epilogue);
  if (is_eight_bits(type)) program.types.push_back("text/bytes.cuh");
  program.files.push_back("depthwise/depthwise.cuh");
  return program;
}

// The launch with packed weights but for the epilogue's operands.
KernelLaunch depthwise_launch(const ConvShape& shape, const DepthwiseVariant& v, DataType type,
                              PackConstant weights, KernelPlan& plan) {
  const int width = width_of(v, type);
  gpu::WindowArgs args = window_args(shape);
  args.strips = to_int(divide_up(shape.q, v.strip));
  args.by_vectors = make_divisor(args.c / width);
  args.by_strips = make_divisor(args.strips);
  args.total = args.n * args.p * args.strips * (args.c / width);
  KernelLaunch launch = launch_of(args, args.total, 128);
  launch.slots = window_slots();
  launch.slots.push_back({offsetof(gpu::WindowArgs, w), PointerSource::constant,
                          plan.add_constant(std::move(weights))});
  return launch;
}

Result<KernelPlan> plan_quantized_depthwise(const Problem& problem, const Tactic& tactic,
                                            const DepthwiseVariant& v) {
  TRY(const QuantizedConv conv, quantized_depthwise(problem));
  const DataType source = conv.product.source;
  KernelPlan plan;
  plan.program = depthwise_program(conv.shape, v, source, tactic.outputs[0].type,
                                   quantized_epilogue(conv, tactic));
  KernelLaunch launch =
      depthwise_launch(conv.shape, v, source,
                       pack_region_weights(conv.product.weights, pack_depthwise(conv.shape)), plan);
  attach_quantized(conv, offsetof(gpu::WindowArgs, epilogue), plan, launch);
  plan.launches.push_back(std::move(launch));
  return plan;
}

Result<KernelPlan> plan_depthwise(const Problem& problem, const Tactic& tactic,
                                  const KernelContext&) {
  const DepthwiseVariant* variant = find_variant(kDepthwiseVariants, tactic);
  if (!variant) return no_variant(tactic);
  if (is_region(problem)) return plan_quantized_depthwise(problem, tactic, *variant);
  TRY(const ConvShape shape, conv_shape(problem));
  CHECK_OK(require_depthwise(shape));
  const DataType type = tactic.inputs[0].type;
  TRY(const LoweredEpilogue epilogue, lower_window_epilogue(problem, shape, type));
  KernelPlan plan;
  plan.program = depthwise_program(shape, *variant, type, type, epilogue.code);
  KernelLaunch launch = depthwise_launch(shape, *variant, type, pack_depthwise(shape), plan);
  attach_epilogue(epilogue, offsetof(gpu::WindowArgs, epilogue), plan, launch);
  plan.launches.push_back(std::move(launch));
  return plan;
}

}  // namespace

const KernelFamily kDepthwiseFamily{"depthwise", offer_depthwise, plan_depthwise, false, true};

}  // namespace enginery
