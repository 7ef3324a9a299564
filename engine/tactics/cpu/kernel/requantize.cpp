// Family requantize: regions of 8-bit numbers whose scale changes, alone, as the sum of two or by
// channel.
#include "engine/kernels/cpu/isa/requantize.h"

#include "engine/tactics/cpu/kernel/cpu_kernel_family.h"
#include "engine/tactics/shapes/requantized.h"

namespace enginery {
namespace {

ScaledBytes scaled_bytes(const QuantizedOperand& operand, Weights weights, float result_scale) {
  return {nullptr, scale_of(operand, weights) / result_scale, operand.zero,
          operand.type == DataType::int8};
}

// One number for each channel, in steps of the result.
std::vector<float> in_steps(Weights weights, int input, float steps) {
  if (input < 0) return {};
  const auto values = weights[static_cast<size_t>(input)]->data<float>();
  std::vector<float> out(values.begin(), values.end());
  for (float& v : out) v *= steps;
  return out;
}

// Elements behind one another of one channel.
int64_t inner_of(const Dims& dims, const Layout& layout) {
  return layout == channels_last_layout() ? 1 : volume(dims) / (dims[0] * dims[1]);
}

}  // namespace

CpuKernelCandidates offer_cpu_requantize(const CpuKernelContext& context, const Problem& p) {
  TRY(const Requantized region, requantized(p));
  const Dims& dims = output_dims(p);
  const auto prepare = [kernel = context.kernels.requantize, region, dims](
                           Weights weights, const Layout& layout) -> CpuKernelRun {
    RequantizeArguments fixed{};
    const float scale = scale_of(region.result, weights);
    fixed.a = scaled_bytes(region.x, weights, scale);
    if (region.z) fixed.b = scaled_bytes(*region.z, weights, scale);
    fixed.count = volume(dims);
    fixed.zero = region.result.zero;
    fixed.is_signed = region.result.type == DataType::int8;
    std::tie(fixed.low, fixed.high) = requantized_bounds(region, scale);
    if (region.factors >= 0) {
      fixed.channels = dims[1];
      fixed.inner = inner_of(dims, layout);
    }
    return [kernel, region, fixed, factors = in_steps(weights, region.factors, fixed.a.factor),
            shifts = in_steps(weights, region.shifts, 1 / scale)](const Arguments& arguments) {
      RequantizeArguments call = fixed;
      call.a.data = arguments.inputs[static_cast<size_t>(region.x.input)];
      if (region.z) call.b.data = arguments.inputs[static_cast<size_t>(region.z->input)];
      call.out = arguments.outputs[0];
      call.factors = factors.empty() ? nullptr : factors.data();
      call.shifts = shifts.data();
      kernel(call);
    };
  };
  std::vector<CpuKernelCandidate> out;
  for (const Layout& layout : unblocked_layouts(dims)) {
    Tactic tactic = cpu_kernel_tactic(p, "requantize");
    for (const QuantizedOperand* operand : {&region.x, region.z ? &*region.z : nullptr}) {
      if (operand) tactic.inputs[static_cast<size_t>(operand->input)].layout = layout;
    }
    tactic.outputs[0].layout = layout;
    tactic.estimated_us = movement_us(context, p);
    out.push_back({std::move(tactic),
                   [prepare, layout](Weights weights) { return prepare(weights, layout); }});
  }
  return out;
}

}  // namespace enginery
