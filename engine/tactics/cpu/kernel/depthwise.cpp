// Family depthwise: convolutions of one filter a channel, channels-last.
#include <algorithm>

#include "engine/tactics/cpu/kernel/convolution.h"

namespace enginery {

Result<DepthwiseConvolution> read_depthwise(const CpuKernelContext& context, const Problem& p,
                                            ActivationsAllowed allowed) {
  CHECK_OK(require_plane(p, "a convolution"));
  const auto& op = std::get<Convolution>(p.op);
  int64_t channels = input_dims(p, 0)[1];
  if (op.groups != channels || output_dims(p)[1] != channels)
    return no_cpu_kernel("a convolution that is not depthwise");
  if (channels < context.kernels.width)
    return no_cpu_kernel("depthwise convolution of few channels");
  TRY(const ConvolutionEpilogue epilogue, read_convolution_epilogue(p, allowed));
  if (epilogue.residual >= 0 || !p.inputs[1].constant)
    return no_cpu_kernel("depthwise convolution with a residual or run-time weights");
  DepthwiseConvolution out{{}, epilogue.bounds.bias};
  set_windows(p, op, plane_of_dims(input_dims(p, 1)), out.arguments);
  out.arguments.low = epilogue.bounds.low;
  out.arguments.high = epilogue.bounds.high;
  out.arguments.steps = static_cast<int>(epilogue.activations.size());
  std::ranges::copy(epilogue.activations, out.arguments.step);
  return out;
}

Tensor pack_taps(const Tensor& weights, int64_t padded) {
  const int64_t channels = weights.dims()[0], taps = volume(weights.dims()) / channels;
  Tensor out(DataType::float32, {taps, padded});
  const auto from = weights.data<float>();
  auto to = out.mutable_data<float>();
  std::ranges::fill(to, 0.0f);
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t t = 0; t < taps; ++t)
      to[static_cast<size_t>(t * padded + c)] = from[static_cast<size_t>(c * taps + t)];
  }
  return out;
}

CpuKernelCandidates offer_cpu_depthwise(const CpuKernelContext& context, const Problem& p) {
  TRY(const DepthwiseConvolution convolution, read_depthwise(context, p, ActivationsAllowed::yes));
  Tactic tactic = cpu_kernel_tactic(p, "depthwise");
  tactic.inputs[0].layout = tactic.outputs[0].layout = channels_last_layout();
  tactic.estimated_us = movement_and_arithmetic_us(context, p, 4000);
  auto build = [kernel = context.kernels.depthwise, a = convolution.arguments,
                bias = convolution.bias](Weights weights) -> CpuKernelRun {
    const Tensor packed = pack_taps(*weights[1], a.channels);
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
