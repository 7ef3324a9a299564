// Family select: Where over linear tensors of any type that repeat as broadcasting allows.
#include "engine/kernels/cpu/isa/moving/select.h"

#include "engine/tactics/cpu/kernel/broadcast.h"

namespace enginery {
CpuKernelCandidates offer_cpu_select(const CpuKernelContext& context, const Problem& p) {
  if (!p.epilogue.empty()) return no_cpu_kernel("a choice with an epilogue");
  SelectArguments a{};
  a.element_bytes = static_cast<int>(element_bytes(p.outputs[0].type.type));
  TRY(a.over, broadcast_loops(p, 3));
  Tactic tactic = cpu_kernel_tactic(p, "select");
  tactic.estimated_us = movement_us(context, p);
  auto prepare = [kernel = context.kernels.select, a, p](Weights weights) -> CpuKernelRun {
    return [kernel, a, inputs = LaunchInputs(p, weights)](const Arguments& arguments) {
      SelectArguments call = a;
      call.condition = static_cast<const uint8_t*>(inputs.address(0, arguments));
      call.a = inputs.address(1, arguments);
      call.b = inputs.address(2, arguments);
      call.out = arguments.outputs[0];
      kernel(call);
    };
  };
  return std::vector<CpuKernelCandidate>{{std::move(tactic), std::move(prepare)}};
}

}  // namespace enginery
