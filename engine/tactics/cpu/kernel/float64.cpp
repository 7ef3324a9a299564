// Family float64: activations, unary and binary operators of linear float64 tensors, with operands
// that repeat as broadcasting allows.
#include "engine/kernels/cpu/isa/float64.h"

#include "engine/tactics/cpu/kernel/broadcast.h"
#include "engine/tactics/shapes/float64_call.h"

namespace enginery {

CpuKernelCandidates offer_cpu_float64(const CpuKernelContext& context, const Problem& p) {
  TRY(const Float64Call call, float64_call(p));
  const size_t second = call.operands > 1 ? 1 : 0;
  const Dims& out = output_dims(p);
  Float64Arguments fixed{};
  fixed.function = call.function;
  fixed.alpha = call.alpha;
  fixed.beta = call.beta;
  TRY(fixed.over, broadcast_loops(out, {repeating_strides(input_dims(p, 0), out.size()),
                                        repeating_strides(input_dims(p, second), out.size())}));
  Tactic tactic = cpu_kernel_tactic(p, "float64");
  tactic.estimated_us = movement_us(context, p);
  auto prepare = [kernel = context.kernels.float64, fixed, second, p](Weights weights) {
    return [=, inputs = LaunchInputs(p, weights)](const Arguments& arguments) {
      Float64Arguments a = fixed;
      a.a = static_cast<const double*>(inputs.address(0, arguments));
      a.b = static_cast<const double*>(inputs.address(second, arguments));
      a.out = static_cast<double*>(arguments.outputs[0]);
      kernel(a);
    };
  };
  return std::vector<CpuKernelCandidate>{{std::move(tactic), std::move(prepare)}};
}

}  // namespace enginery
