// Family pooled_conv: a convolution of a picture with the max pooling behind it, as one pass.
#include "engine/tactics/shapes/pooled_conv.h"

#include <algorithm>

#include "engine/kernels/cpu/isa/products/pooled_conv.h"
#include "engine/tactics/cpu/kernel/convolution.h"
#include "engine/tactics/shapes/reading.h"

namespace enginery {
namespace {

constexpr int64_t kMostChannels = 4;  // more fill vectors, as the dense convolutions want them
constexpr int64_t kScratchBytes = 1 << 20;

struct PooledPlan {
  PooledConvArguments arguments;
  int bias = -1;  // input of the region, or -1
};

// Whether each window of the pooling has a place inside of `extent` rows or columns.
bool all_inside(int64_t extent, int64_t outputs, int64_t kernel, int64_t stride, int64_t pad) {
  return pad >= 0 && pad < kernel && (outputs - 1) * stride - pad < extent;
}

Status set_pooling(const Problem& p, const Pooling& pool, PooledConvArguments& a) {
  a.out_h = output_dims(p)[2];
  a.out_w = output_dims(p)[3];
  a.pool_h = pool.kernel[0];
  a.pool_w = pool.kernel[1];
  a.pool_stride_h = pool.strides[0];
  a.pool_stride_w = pool.strides[1];
  a.pool_pad_h = pool.pads_begin[0];
  a.pool_pad_w = pool.pads_begin[1];
  if (!all_are(pool.dilations, 1) ||
      !all_inside(a.conv_h, a.out_h, a.pool_h, a.pool_stride_h, a.pool_pad_h) ||
      !all_inside(a.conv_w, a.out_w, a.pool_w, a.pool_stride_w, a.pool_pad_w))
    return no_cpu_kernel("a pooling with dilation, or with windows outside of the picture");
  return {};
}

Status set_convolution(const Problem& conv, PooledConvArguments& a) {
  const auto* op = std::get_if<Convolution>(&conv.op);
  if (!op || input_dims(conv, 0).size() != 4 || op->groups != 1 || !conv.inputs[1].constant)
    return no_cpu_kernel("a pooling behind another convolution");
  CHECK_OK(require_plane(conv, "a pooled convolution"));
  const Dims &x = input_dims(conv, 0), &w = input_dims(conv, 1), &y = output_dims(conv);
  a.images = x[0];
  a.channels_in = x[1];
  a.in_h = x[2];
  a.in_w = x[3];
  a.channels_out = w[0];
  a.kernel_h = w[2];
  a.kernel_w = w[3];
  a.conv_h = y[2];
  a.conv_w = y[3];
  a.stride_h = op->strides[0];
  a.stride_w = op->strides[1];
  a.pad_h = op->pads_begin[0];
  a.pad_w = op->pads_begin[1];
  const bool is_cropped = std::ranges::any_of(op->pads_begin, [](int64_t pad) { return pad < 0; });
  if (!all_are(op->dilations, 1) || is_cropped || a.channels_in > kMostChannels)
    return no_cpu_kernel("a convolution with dilation, cropping or many channels before a pooling");
  return {};
}

Result<PooledPlan> read_pooled_plan(const CpuKernelContext& context, const Problem& p) {
  TRY(const PooledConv region, pooled_conv(p));
  if (region.quantize || std::holds_alternative<Dequantize>(region.conv.op))
    return no_cpu_kernel("a pooling of quantised numbers");
  PooledPlan out;
  PooledConvArguments& a = out.arguments;
  a = {};
  CHECK_OK(set_convolution(region.conv, a));
  CHECK_OK(set_pooling(p, region.pool, a));
  TRY(const ConvolutionEpilogue epilogue,
      read_convolution_epilogue(region.conv, ActivationsAllowed::no));
  if (epilogue.residual >= 0) return no_cpu_kernel("a sum before a pooling");
  out.bias = epilogue.bounds.bias;
  a.low = epilogue.bounds.low;
  a.high = epilogue.bounds.high;
  const int64_t width = context.kernels.width;
  a.scratch_floats = (round_up(a.channels_out, 2 * width) * a.pool_h + width) * pooled_columns(a) +
                     round_up(a.channels_in * a.kernel_h * picture_columns(a), width);
  if (4 * a.scratch_floats > kScratchBytes)
    return no_cpu_kernel("rows that do not fit a core's cache before a pooling");
  return out;
}

void set_strides(const CpuKernelContext& context, const Layout& from, const Layout& to,
                 PooledConvArguments& a) {
  const int64_t width = context.kernels.width, out_pixels = a.out_h * a.out_w;
  const bool planes = from.kind == LayoutKind::linear, blocked = to.kind == LayoutKind::blocked;
  const int64_t in_apart = context.in_pitch > 0 ? context.in_pitch : a.channels_in,
                out_apart = context.out_pitch > 0 ? context.out_pitch : a.channels_out;
  a.in_pixel = planes ? 1 : in_apart;
  a.in_channel = planes ? a.in_h * a.in_w : 1;
  a.in_row = a.in_w * a.in_pixel;
  a.in_image = a.in_h * a.in_w * (planes ? a.channels_in : in_apart);
  a.out_pixel = blocked ? width : out_apart;
  a.out_vector = blocked ? width * out_pixels : width;
  a.out_image = out_apart * out_pixels;
}

CpuKernelRun prepared(const CpuKernelContext& context, const PooledPlan& plan, Weights weights) {
  const PooledConvArguments& a = plan.arguments;
  const Tensor* bias = plan.bias >= 0 ? weights[static_cast<size_t>(plan.bias)] : nullptr;
  const int64_t taps = a.channels_in * a.kernel_h * a.kernel_w;
  return
      [kernel = context.kernels.pooled_conv, a,
       panels = pack_panels(weights[1]->reshaped({a.channels_out, taps}), context.kernels.width),
       biases = pad_bias(bias, a.channels_out, context.kernels.width)](const Arguments& arguments) {
        PooledConvArguments call = a;
        call.weights = panels.data<float>().data();
        call.bias = biases.data<float>().data();
        call.in = static_cast<const float*>(arguments.inputs[0]);
        call.out = static_cast<float*>(arguments.outputs[0]);
        call.scratch = static_cast<float*>(arguments.workspace);
        kernel(call);
      };
}

CpuKernelCandidate pooled_candidate(const CpuKernelContext& context, const Problem& p,
                                    PooledPlan plan, const Layout& from, const Layout& to) {
  PooledConvArguments& a = plan.arguments;
  set_strides(context, from, to, a);
  Tactic tactic = cpu_kernel_tactic(p, "pooled_conv");
  tactic.inputs[0].layout = from;
  tactic.outputs[0].layout = to;
  tactic.reads_pitched = from.kind == LayoutKind::channels_last;
  tactic.writes_pitched = to.kind == LayoutKind::channels_last;
  tactic.workspace_bytes = a.scratch_floats * context.threads * static_cast<int64_t>(sizeof(float));
  const double flops =
      2.0 * static_cast<double>(a.images * a.conv_h * a.conv_w) *
      static_cast<double>(a.channels_out * a.channels_in * a.kernel_h * a.kernel_w);
  tactic.estimated_us = product_us(context, flops, least_bytes(p));
  return {std::move(tactic),
          [context, plan](Weights weights) { return prepared(context, plan, weights); }};
}

}  // namespace

CpuKernelCandidates offer_cpu_pooled_conv(const CpuKernelContext& context, const Problem& p) {
  TRY(const PooledPlan plan, read_pooled_plan(context, p));
  std::vector<CpuKernelCandidate> out;
  for (const Layout& from : unblocked_layouts(input_dims(p, 0))) {
    for (const Layout& to : side_layouts(context, plan.arguments.channels_out))
      out.push_back(pooled_candidate(context, p, plan, from, to));
  }
  return out;
}

}  // namespace enginery
