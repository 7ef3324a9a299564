// Family average_bytes: averages of 8-bit numbers over windows or whole planes, channels-last, to
// numbers of another scale or to float32.
#include "engine/kernels/cpu/isa/average_bytes.h"

#include "engine/tactics/cpu/kernel/cpu_kernel_family.h"
#include "engine/tactics/shapes/averaged_bytes.h"

namespace enginery {
namespace {

AverageBytesArguments arguments_of(const Problem& p, const AveragedBytes& region) {
  const Plane pad_end = plane_of(region.pool.pads_end, 0);
  AverageBytesArguments a{};
  set_windows(p, region.pool, plane_of(region.pool.kernel, 1), a);
  a.pad_end_h = pad_end.h;
  a.pad_end_w = pad_end.w;
  a.count_padding = region.pool.count_padding;
  a.is_signed = region.x.type == DataType::int8;
  a.zero = static_cast<int32_t>(region.x.zero);
  a.to_bytes = region.result.has_value();
  if (!region.result) return a;
  a.result_signed = region.result->type == DataType::int8;
  a.result_zero = region.result->zero;
  std::tie(a.low, a.high) = bounds_of(region.result->type);
  return a;
}

}  // namespace

CpuKernelCandidates offer_cpu_average_bytes(const CpuKernelContext& context, const Problem& p) {
  TRY(const AveragedBytes region, averaged_bytes(p));
  const auto prepare = [kernel = context.kernels.average_bytes, region,
                        fixed = arguments_of(p, region)](Weights weights) {
    AverageBytesArguments a = fixed;
    a.factor = scale_of(region.x, weights);
    if (region.result) a.factor /= scale_of(*region.result, weights);
    const auto input = static_cast<size_t>(region.x.input);
    return CpuKernelRun([kernel, input, a](const Arguments& arguments) {
      AverageBytesArguments call = a;
      call.in = arguments.inputs[input];
      call.out = arguments.outputs[0];
      kernel(call);
    });
  };
  Tactic tactic = cpu_kernel_tactic(p, "average_bytes");
  tactic.inputs[static_cast<size_t>(region.x.input)].layout = channels_last_layout();
  tactic.outputs[0].layout = channels_last_layout();
  tactic.estimated_us = movement_and_arithmetic_us(context, p, 16000);
  return std::vector<CpuKernelCandidate>{{std::move(tactic), prepare}};
}

}  // namespace enginery
