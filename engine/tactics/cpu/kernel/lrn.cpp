// Family lrn: across the channels, channels-last.
#include "engine/kernels/cpu/isa/lrn.h"

#include "engine/tactics/cpu/kernel/cpu_kernel_family.h"

namespace enginery {

CpuKernelCandidates offer_cpu_lrn(const CpuKernelContext& context, const Problem& p) {
  constexpr int64_t kMaxSize = 31;  // what the kernel's buffer on the stack holds
  const auto& op = std::get<Lrn>(p.op);
  if (input_dims(p, 0).size() < 3 || !p.epilogue.empty())
    return no_cpu_kernel("lrn of this rank or with an epilogue");
  if (p.inputs[0].type.type != DataType::float32 || op.size > kMaxSize)
    return no_cpu_kernel("lrn of this type or size");
  const Dims& dims = input_dims(p, 0);
  LrnArguments a{nullptr, nullptr, volume(dims) / dims[1], dims[1], op.size, op.alpha,
                 op.beta, op.bias};
  Tactic tactic = cpu_kernel_tactic(p, "lrn");
  tactic.inputs[0].layout = tactic.outputs[0].layout = channels_last_layout();
  tactic.estimated_us = 4 * movement_us(context, p);
  return std::vector<CpuKernelCandidate>{
      {std::move(tactic),
       [kernel = context.kernels.lrn, a](Weights) { return run_of(kernel, a); }}};
}

}  // namespace enginery
