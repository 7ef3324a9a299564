// Family requantize: regions of 8-bit numbers whose scale changes, alone or as the sum of two.
#include "engine/kernels/cpu/isa/requantize.h"

#include "engine/tactics/cpu/kernel/cpu_kernel_family.h"
#include "engine/tactics/shapes/requantized.h"

namespace enginery {
namespace {

float scale_of(const QuantizedOperand& operand, Weights weights) {
  return weights[static_cast<size_t>(operand.scale)]->data<float>()[0];
}

ScaledBytes scaled_bytes(const QuantizedOperand& operand, Weights weights, float result_scale) {
  return {nullptr, scale_of(operand, weights) / result_scale, operand.zero,
          operand.type == DataType::int8};
}

}  // namespace

CpuKernelCandidates offer_cpu_requantize(const CpuKernelContext& context, const Problem& p) {
  TRY(const Requantized region, requantized(p));
  const auto prepare = [kernel = context.kernels.requantize, region,
                        count = volume(output_dims(p))](Weights weights) -> CpuKernelRun {
    RequantizeArguments fixed{};
    const float scale = scale_of(region.result, weights);
    fixed.a = scaled_bytes(region.x, weights, scale);
    if (region.z) fixed.b = scaled_bytes(*region.z, weights, scale);
    fixed.count = count;
    fixed.zero = region.result.zero;
    fixed.is_signed = region.result.type == DataType::int8;
    std::tie(fixed.low, fixed.high) = requantized_bounds(region, scale);
    return [kernel, region, fixed](const Arguments& arguments) {
      RequantizeArguments call = fixed;
      call.a.data = arguments.inputs[static_cast<size_t>(region.x.input)];
      if (region.z) call.b.data = arguments.inputs[static_cast<size_t>(region.z->input)];
      call.out = arguments.outputs[0];
      kernel(call);
    };
  };
  std::vector<CpuKernelCandidate> out;
  for (const Layout& layout : unblocked_layouts(output_dims(p))) {
    Tactic tactic = cpu_kernel_tactic(p, "requantize");
    for (const QuantizedOperand* operand : {&region.x, region.z ? &*region.z : nullptr}) {
      if (operand) tactic.inputs[static_cast<size_t>(operand->input)].layout = layout;
    }
    tactic.outputs[0].layout = layout;
    tactic.estimated_us = movement_us(context, p);
    out.push_back({std::move(tactic), prepare});
  }
  return out;
}

}  // namespace enginery
