// Family scan: CumSum of linear tensors along a dimension that is known.
#include "engine/kernels/cpu/isa/scan.h"

#include "engine/tactics/cpu/kernel/cpu_kernel_family.h"
#include "engine/tactics/shapes/reading.h"

namespace enginery {
CpuKernelCandidates offer_cpu_scan(const CpuKernelContext& context, const Problem& p) {
  const auto& op = std::get<CumSum>(p.op);
  const Dims& dims = input_dims(p, 0);
  const auto type = number_type(p.inputs[0].type.type);
  if (!type || dims.empty() || !p.epilogue.empty())
    return no_cpu_kernel("running sums of " + to_string(p.inputs[0].type));
  if (!p.inputs[1].value) return no_cpu_kernel("running sums along a computed axis");
  const auto axis = static_cast<size_t>(wrapped(to_int64s(*p.inputs[1].value)[0], dims.size()));
  const AxisExtents e = linear_extents(dims, axis, axis);
  const ScanArguments a{nullptr, nullptr, e.outer,      e.size,
                        e.inner, *type,   op.exclusive, op.reverse};
  Tactic tactic = cpu_kernel_tactic(p, "scan");
  tactic.estimated_us = movement_us(context, p);
  return std::vector<CpuKernelCandidate>{
      {std::move(tactic),
       [kernel = context.kernels.scan, a](Weights) { return run_of(kernel, a); }}};
}

}  // namespace enginery
