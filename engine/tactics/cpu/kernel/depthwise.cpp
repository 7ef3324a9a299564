// Family depthwise: convolutions of one filter a channel, channels-last.
#include "engine/kernels/cpu/isa/depthwise.h"

#include "engine/tactics/cpu/kernel/cpu_kernel_family.h"

namespace enginery {
namespace {

// Weights [channels, 1, taps...] as the kernel reads them: [taps, channels].
Tensor taps_first(const Tensor& weights, int64_t channels, int64_t taps) {
  Tensor out(DataType::float32, {taps, channels});
  const auto from = weights.data<float>();
  auto to = out.mutable_data<float>();
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t t = 0; t < taps; ++t)
      to[static_cast<size_t>(t * channels + c)] = from[static_cast<size_t>(c * taps + t)];
  }
  return out;
}

}  // namespace

CpuKernelCandidates offer_cpu_depthwise(const CpuKernelContext& context, const Problem& p) {
  CHECK_OK(require_plane(p, "a convolution"));
  const auto& op = std::get<Convolution>(p.op);
  int64_t channels = input_dims(p, 0)[1];
  if (op.groups != channels || output_dims(p)[1] != channels)
    return no_cpu_kernel("a convolution that is not depthwise");
  if (channels < context.kernels.width)
    return no_cpu_kernel("depthwise convolution of few channels");
  bool own_bias = p.anchor_inputs > 2 && p.inputs[2].present;
  auto bounds = read_bounds(p, own_bias ? BiasAllowed::no : BiasAllowed::yes);
  if (!bounds || !p.inputs[1].constant)
    return no_cpu_kernel("depthwise convolution with more than bias and clip");
  int bias = own_bias ? 2 : bounds->bias;
  if (bias >= 0 && !p.inputs[static_cast<size_t>(bias)].constant)
    return no_cpu_kernel("depthwise convolution with a run-time bias");
  const Plane kernel = plane_of_dims(input_dims(p, 1));
  DepthwiseArguments a{};
  set_windows(p, op, kernel, a);
  a.low = bounds->low;
  a.high = bounds->high;
  Tactic tactic = cpu_kernel_tactic(p, "depthwise");
  tactic.inputs[0].layout = tactic.outputs[0].layout = channels_last_layout();
  tactic.estimated_us = movement_and_arithmetic_us(context, p, 4000);
  auto build = [kernel = context.kernels.depthwise, a, bias,
                taps = kernel.h * kernel.w](Weights weights) -> CpuKernelRun {
    const Tensor packed = taps_first(*weights[1], a.channels, taps);
    Tensor bias_values = bias >= 0 ? *weights[static_cast<size_t>(bias)] : Tensor();
    return [=](const Arguments& arguments) {
      auto call = a;
      call.in = static_cast<const float*>(arguments.inputs[0]);
      call.out = static_cast<float*>(arguments.outputs[0]);
      call.weights = packed.data<float>().data();
      call.bias = bias >= 0 ? bias_values.data<float>().data() : nullptr;
      kernel(call);
    };
  };
  return std::vector<CpuKernelCandidate>{{std::move(tactic), build}};
}

}  // namespace enginery
