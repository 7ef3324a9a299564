// Family depthwise_block: a depthwise convolution between two 1x1 convolutions, or in front of one,
// as one pass in which what is between them stays in a core's cache.
#include "engine/tactics/shapes/depthwise_block.h"

#include <algorithm>

#include "engine/kernels/cpu/isa/products/depthwise_block.h"
#include "engine/tactics/cpu/kernel/convolution.h"
#include "engine/tactics/shapes/reading.h"

namespace enginery {
namespace {

// Where the constants of one of the convolutions come from: inputs of the region, -1: none.
struct Constants {
  int weights = -1, bias = -1;
};

// What is captured for launches.
struct Plan {
  DepthwiseBlockArguments arguments;
  Constants expand, taps, project;
  int residual = -1;
};

int input_of(const DepthwiseBlock::Part& part, int input) {
  return input >= 0 ? part.from[static_cast<size_t>(input)] : -1;
}

// A 1x1 convolution's place in the plan, and its clip. Errors: unsupported.
Result<Constants> read_product(const DepthwiseBlock::Part& part, BlockWeights& clip,
                               int* residual) {
  if (!is_pixel_product(part.problem)) return no_cpu_kernel("a block with another convolution");
  TRY(const ConvolutionEpilogue epilogue,
      read_convolution_epilogue(part.problem, ActivationsAllowed::no));
  if (epilogue.residual >= 0 && !residual) return no_cpu_kernel("a block with a sum inside");
  if (residual) *residual = input_of(part, epilogue.residual);
  clip.low = epilogue.bounds.low;
  clip.high = epilogue.bounds.high;
  return Constants{input_of(part, 1), input_of(part, epilogue.bounds.bias)};
}

Result<Plan> read_plan(const CpuKernelContext& context, const Problem& p) {
  TRY(const DepthwiseBlock block, depthwise_block(p));
  const Problem& middle = block.depthwise.problem;
  TRY(const DepthwiseConvolution depthwise,
      read_depthwise(context, middle, ActivationsAllowed::no));
  const DepthwiseArguments& d = depthwise.arguments;
  if (d.dilation_h != 1 || d.dilation_w != 1 || d.pad_h < 0 || d.pad_w < 0)
    return no_cpu_kernel("a block with dilation or cropping");
  Plan out;
  DepthwiseBlockArguments& a = out.arguments;
  a = {};
  if (block.expand) {
    TRY(out.expand, read_product(*block.expand, a.expand, nullptr));
  }
  TRY(out.project, read_product(block.project, a.project, &out.residual));
  out.taps = {input_of(block.depthwise, 1), input_of(block.depthwise, depthwise.bias)};
  a.taps.low = d.low;
  a.taps.high = d.high;
  a.images = d.n;
  a.channels_in = input_dims(p, 0)[1];
  a.channels = d.channels;
  a.channels_out = output_dims(p)[1];
  a.in_h = d.in_h;
  a.in_w = d.in_w;
  a.out_h = d.out_h;
  a.out_w = d.out_w;
  a.kernel_h = d.kernel_h;
  a.kernel_w = d.kernel_w;
  a.stride_h = d.stride_h;
  a.stride_w = d.stride_w;
  a.pad_h = d.pad_h;
  a.pad_w = d.pad_w;
  return out;
}

int64_t scratch_floats(const DepthwiseBlockArguments& a, int64_t width) {
  const int64_t channels = round_up(a.channels, width);
  const int64_t window = (a.rows - 1) * a.stride_h + a.kernel_h;
  const int64_t columns = std::max(a.in_w + a.pad_w, (a.out_w - 1) * a.stride_w + a.kernel_w);
  return channels * (window * columns + a.rows * a.out_w) +
         window * a.in_w * round_up(a.channels_in, width);
}

// As many rows at a time as make the weights worth reading again and leave the scratch in L2;
// shares of threads in whole steps.
void set_rows(const CpuKernelContext& context, DepthwiseBlockArguments& a) {
  constexpr int64_t kScratchBytes = 640 << 10, kPixels = 84, kLeastRows = 4;
  const int64_t width = context.kernels.width, threads = context.threads;
  const int64_t share = std::max<int64_t>(a.images * a.out_h / threads, 1);
  a.rows = std::min({std::max((kPixels + a.out_w - 1) / a.out_w, kLeastRows), a.out_h, share});
  while (a.rows > 1 && 4 * scratch_floats(a, width) > kScratchBytes) --a.rows;
  const int64_t steps = (share + a.rows - 1) / a.rows;
  a.rows = (share + steps - 1) / steps;
  a.scratch_floats = scratch_floats(a, width);
}

void set_strides(const CpuKernelContext& context, const Layout& from, const Layout& to,
                 DepthwiseBlockArguments& a) {
  const int64_t width = context.kernels.width, out_pixels = a.out_h * a.out_w;
  const bool blocked = from.kind == LayoutKind::blocked;
  const int64_t apart = context.in_pitch > 0 ? context.in_pitch : a.channels_in;
  a.in_pixel = blocked ? width : apart;
  a.in_chunk = blocked ? width * a.in_h * a.in_w : width;
  a.in_image = apart * a.in_h * a.in_w;
  const bool to_blocks = to.kind == LayoutKind::blocked;
  const int64_t out_apart = context.out_pitch > 0 ? context.out_pitch : a.channels_out;
  a.out_pixel = to_blocks ? width : out_apart;
  a.out_vector = to_blocks ? width * out_pixels : width;
  a.out_image = out_apart * out_pixels;
}

// The constants as the kernel reads them, and pointers to them.
struct PackedBlock {
  Tensor expand, expand_bias, taps, taps_bias, project, project_bias;
  void point(DepthwiseBlockArguments& a) const {
    const auto at = [](const Tensor& t) { return t.data<float>().data(); };
    if (expand.bytes() > 0) {
      a.expand.weights = at(expand);
      a.expand.bias = at(expand_bias);
    }
    a.taps.weights = at(taps);
    a.taps.bias = at(taps_bias);
    a.project.weights = at(project);
    a.project.bias = at(project_bias);
  }
};

PackedBlock packed(const Plan& plan, int64_t width, Weights weights) {
  const DepthwiseBlockArguments& a = plan.arguments;
  const auto at = [&](int input) {
    return input >= 0 ? weights[static_cast<size_t>(input)] : nullptr;
  };
  PackedBlock out;
  if (plan.expand.weights >= 0) {
    out.expand = pack_panels(*at(plan.expand.weights), width);
    out.expand_bias = pad_bias(at(plan.expand.bias), a.channels, width);
  }
  out.taps = pack_taps(*at(plan.taps.weights), round_up(a.channels, width));
  out.taps_bias = pad_bias(at(plan.taps.bias), a.channels, width);
  out.project = pack_panels(*at(plan.project.weights), width);
  out.project_bias = pad_bias(at(plan.project.bias), a.channels_out, width);
  return out;
}

CpuKernelRun prepared(const CpuKernelContext& context, const Plan& plan, Weights weights) {
  return [kernel = context.kernels.depthwise_block, plan,
          constants = packed(plan, context.kernels.width, weights)](const Arguments& arguments) {
    DepthwiseBlockArguments call = plan.arguments;
    constants.point(call);
    call.in = static_cast<const float*>(arguments.inputs[0]);
    call.out = static_cast<float*>(arguments.outputs[0]);
    call.scratch = static_cast<float*>(arguments.workspace);
    if (plan.residual >= 0)
      call.residual =
          static_cast<const float*>(arguments.inputs[static_cast<size_t>(plan.residual)]);
    kernel(call);
  };
}

CpuKernelCandidate candidate(const CpuKernelContext& context, const Problem& p, Plan plan,
                             const Layout& from, const Layout& to) {
  DepthwiseBlockArguments& a = plan.arguments;
  set_strides(context, from, to, a);
  Tactic tactic = cpu_kernel_tactic(p, "depthwise_block");
  tactic.inputs[0].layout = from;
  tactic.outputs[0].layout = to;
  // The input is read again while the output is written: it cannot be taken over by it.
  if (plan.residual > 0) {
    tactic.inputs[static_cast<size_t>(plan.residual)].layout = to;
    tactic.in_place_operand = plan.residual;
  }
  tactic.reads_pitched = from.kind == LayoutKind::channels_last && plan.residual != 0;
  tactic.writes_pitched = to.kind == LayoutKind::channels_last && plan.residual < 0;
  tactic.workspace_bytes = a.scratch_floats * context.threads * static_cast<int64_t>(sizeof(float));
  const double pixels = static_cast<double>(a.images * a.in_h * a.in_w),
               out_pixels = static_cast<double>(a.images * a.out_h * a.out_w);
  const double expand = plan.expand.weights >= 0 ? static_cast<double>(a.channels_in) : 0;
  const double flops = 2.0 * static_cast<double>(a.channels) *
                       (pixels * expand + out_pixels * static_cast<double>(a.channels_out) +
                        2 * out_pixels * static_cast<double>(a.kernel_h * a.kernel_w));
  tactic.estimated_us = product_us(context, flops, least_bytes(p));
  auto prepare = [context, plan](Weights weights) { return prepared(context, plan, weights); };
  return {std::move(tactic), prepare};
}

}  // namespace

CpuKernelCandidates offer_cpu_depthwise_block(const CpuKernelContext& context, const Problem& p) {
  TRY(Plan plan, read_plan(context, p));
  set_rows(context, plan.arguments);
  std::vector<CpuKernelCandidate> out;
  for (const Layout& from : side_layouts(context, plan.arguments.channels_in)) {
    for (const Layout& to : side_layouts(context, plan.arguments.channels_out)) {
      if (plan.residual == 0 && from != to) continue;
      out.push_back(candidate(context, p, plan, from, to));
    }
  }
  return out;
}

}  // namespace enginery
