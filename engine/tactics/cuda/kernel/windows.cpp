// Families depthwise and pool: sliding windows that keep channels apart (depthwise.cuh, pool.cuh,
// global_pool.cuh).
#include "engine/kernels/cuda/variants.h"
#include "engine/tactics/cuda/kernel/conv_shape.h"

namespace enginery {
namespace {

std::string id_of(const DepthwiseVariant& v) {
  return std::string("depthwise/") + v.name;
}

Result<ConvShape> depthwise_shape(const Problem& problem) {
  TRY(ConvShape shape, conv_shape(problem));
  if (shape.product || shape.groups != shape.c || shape.k != shape.c || shape.c == 1)
    return no_kernel("not depthwise");
  if (shape.r * shape.s > 49) return no_kernel("a depthwise filter larger than 7x7");
  return shape;
}

gpu::WindowArgs window_args(const ConvShape& s) {
  gpu::WindowArgs a{};
  auto narrow = [](int64_t v) { return static_cast<int>(v); };
  a.n = narrow(s.n), a.h = narrow(s.h), a.width = narrow(s.w), a.c = narrow(padded_to_8(s.c)),
  a.channels = narrow(s.c);
  a.p = narrow(s.p), a.q = narrow(s.q), a.r = narrow(s.r), a.s = narrow(s.s);
  a.stride_h = narrow(s.stride_h), a.stride_w = narrow(s.stride_w);
  a.pad_h = narrow(s.pad_h), a.pad_w = narrow(s.pad_w);
  a.pad_h_end = narrow(s.pad_h_end), a.pad_w_end = narrow(s.pad_w_end);
  a.dilation_h = narrow(s.dilation_h), a.dilation_w = narrow(s.dilation_w);
  a.by_p = make_divisor(s.p);
  return a;
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

std::vector<PointerSlot> window_slots() {
  return {{offsetof(gpu::WindowArgs, x), PointerSource::input, 0},
          {offsetof(gpu::WindowArgs, y), PointerSource::output, 0}};
}

// A pooling problem as a window over channels; kernel sizes in r and s.
struct PoolShape {
  ConvShape shape;
  PoolKind kind = PoolKind::max;
  bool count_padding = false, global = false;
};

Result<PoolShape> pool_shape(const Problem& problem) {
  CHECK_OK(require_static(problem));
  const auto* pooling = std::get_if<Pooling>(&problem.op);
  const auto* global = std::get_if<GlobalPooling>(&problem.op);
  if ((!pooling && !global) || problem.outputs.size() != 1) return no_kernel("no pooling");
  const Dims &x = problem.inputs[0].type.dims, &y = problem.outputs[0].type.dims;
  if (x.size() < 3 || x.size() > 4 || volume(y) == 0 || volume(x) == 0)
    return no_kernel("pooling over " + to_string(x));
  if (!is_floating(problem.inputs[0].type.type)) return no_kernel("pooling of integers");
  PoolShape out;
  ConvShape& s = out.shape;
  s.n = x[0], s.c = s.k = x[1], s.w = x.back(), s.q = y.back();
  if (x.size() == 4) s.h = x[2], s.p = y[2];
  if (global) {
    out.kind = global->kind, out.global = true;
    return out;
  }
  out.kind = pooling->kind, out.count_padding = pooling->count_padding;
  size_t last = x.size() - 3;
  s.s = pooling->kernel[last], s.stride_w = pooling->strides[last],
  s.dilation_w = pooling->dilations[last];
  s.pad_w = pooling->pads_begin[last], s.pad_w_end = pooling->pads_end[last];
  if (x.size() == 4) {
    s.r = pooling->kernel[0], s.stride_h = pooling->strides[0],
    s.dilation_h = pooling->dilations[0];
    s.pad_h = pooling->pads_begin[0], s.pad_h_end = pooling->pads_end[0];
  }
  return out;
}

double window_bytes(const ConvShape& s, DataType type) {
  return static_cast<double>((s.n * s.h * s.w + s.n * s.p * s.q) * padded_to_8(s.c) *
                             element_bytes(type));
}

constexpr int kPoolWidth = 8;

}  // namespace

Status offer_depthwise(const Problem& problem, const KernelContext& context,
                       std::vector<Tactic>& out) {
  TRY(ConvShape shape, depthwise_shape(problem));
  for (DataType type : context.storage_types()) {
    TRY(LoweredEpilogue epilogue, lower_conv_epilogue(problem, shape, type));
    for (const DepthwiseVariant& variant : depthwise_variants()) {
      if (variant.strip / 2 >= shape.q && variant.strip > 1) continue;
      Tactic tactic = make_conv_tactic(problem, shape, epilogue, id_of(variant));
      double reread = 0.1 * static_cast<double>(shape.r * shape.s) / variant.strip;
      auto width = type == DataType::float16 ? 8 : 4;
      double threads = static_cast<double>(shape.n * shape.p * divide_up(shape.q, variant.strip) *
                                           padded_to_8(shape.c)) /
                       width;
      double fill = std::min(1.0, threads / (512.0 * context.info.compute_units));
      tactic.estimated_us =
          context.memory_us(window_bytes(shape, type) * (1 + reread) / std::max(fill, 0.1));
      out.push_back(std::move(tactic));
    }
  }
  return {};
}

Result<KernelPlan> plan_depthwise(const Problem& problem, const Tactic& tactic,
                                  const KernelContext&) {
  TRY(ConvShape shape, depthwise_shape(problem));
  const DepthwiseVariant* variant = nullptr;
  for (const DepthwiseVariant& v : depthwise_variants()) {
    if (id_of(v) == tactic.id) variant = &v;
  }
  if (!variant) return no_variant(tactic);
  DataType type = tactic.inputs[0].type;
  TRY(LoweredEpilogue epilogue, lower_conv_epilogue(problem, shape, type));
  int width = type == DataType::float16 ? 8 : 4;
  KernelPlan plan;
  define_types(plan.program, type, type);
  plan.program.define("WIDTH", width), plan.program.define("STRIP", variant->strip);
  plan.program.define("R", shape.r), plan.program.define("S", shape.s);
  plan.program.define("STRIDE_H", shape.stride_h), plan.program.define("STRIDE_W", shape.stride_w);
  plan.program.define("DILATION_H", shape.dilation_h),
      plan.program.define("DILATION_W", shape.dilation_w);
  plan.program.functions = epilogue_text(epilogue.code);
  plan.program.files = {"depthwise.cuh"};
  gpu::WindowArgs args = window_args(shape);
  args.strips = static_cast<int>(divide_up(shape.q, variant->strip));
  args.by_vectors = make_divisor(args.c / width), args.by_strips = make_divisor(args.strips);
  args.total = args.n * args.p * args.strips * (args.c / width);
  KernelLaunch launch;
  launch.grid = grid_for(args.total, 128);
  launch.arguments = argument_bytes(args);
  launch.slots = window_slots();
  launch.slots.push_back({offsetof(gpu::WindowArgs, w), PointerSource::constant,
                          plan.add_constant(pack_depthwise(shape))});
  attach_epilogue(epilogue, offsetof(gpu::WindowArgs, epilogue), plan, launch);
  plan.launches.push_back(std::move(launch));
  return plan;
}

Status offer_pool(const Problem& problem, const KernelContext& context, std::vector<Tactic>& out) {
  TRY(PoolShape pool, pool_shape(problem));
  for (DataType type : context.storage_types()) {
    TRY(LoweredEpilogue epilogue, lower_conv_epilogue(problem, pool.shape, type));
    Tactic tactic = make_conv_tactic(problem, pool.shape, epilogue,
                                     pool.global ? "pool/global" : "pool/window");
    tactic.estimated_us = context.memory_us(window_bytes(pool.shape, type)) + 1;
    out.push_back(std::move(tactic));
  }
  return {};
}

Result<KernelPlan> plan_pool(const Problem& problem, const Tactic& tactic, const KernelContext&) {
  TRY(PoolShape pool, pool_shape(problem));
  if (tactic.id != (pool.global ? "pool/global" : "pool/window")) return no_variant(tactic);
  const ConvShape& shape = pool.shape;
  DataType type = tactic.inputs[0].type;
  TRY(LoweredEpilogue epilogue, lower_conv_epilogue(problem, shape, type));
  KernelPlan plan;
  define_types(plan.program, type, type);
  plan.program.define("WIDTH", kPoolWidth),
      plan.program.define("MAXIMUM", pool.kind == PoolKind::max);
  plan.program.define("COUNT_PADDING", pool.count_padding);
  plan.program.functions = epilogue_text(epilogue.code);
  plan.program.files = {pool.global ? "global_pool.cuh" : "pool.cuh"};
  gpu::WindowArgs args = window_args(shape);
  args.by_vectors = make_divisor(args.c / kPoolWidth), args.by_strips = make_divisor(shape.q);
  args.total = static_cast<int>(shape.m() * (args.c / kPoolWidth));
  KernelLaunch launch;
  launch.grid = grid_for(args.total, 128);
  if (pool.global) {
    launch.grid = {static_cast<unsigned>(divide_up(args.c / kPoolWidth, 8)),
                   static_cast<unsigned>(shape.n), 1};
    launch.threads = 256;
  }
  launch.arguments = argument_bytes(args);
  launch.slots = window_slots();
  attach_epilogue(epilogue, offsetof(gpu::WindowArgs, epilogue), plan, launch);
  plan.launches.push_back(std::move(launch));
  return plan;
}

}  // namespace enginery
