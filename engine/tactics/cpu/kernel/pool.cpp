// Family pool: max and average pooling of one or two spatial dimensions, channels-last.
#include "engine/kernels/cpu/isa/pool.h"

#include "engine/tactics/cpu/kernel/cpu_kernel_family.h"

namespace enginery {

CpuKernelCandidates offer_cpu_pool(const CpuKernelContext& context, const Problem& p) {
  CHECK_OK(require_plane(p, "pooling"));
  auto bounds = read_bounds(p, BiasAllowed::no);
  if (!bounds) return no_cpu_kernel("pooling with more than a clip after it");
  const auto& op = std::get<Pooling>(p.op);
  const Plane pad_end = plane_of(op.pads_end, 0);
  PoolArguments a{};
  set_windows(p, op, plane_of(op.kernel, 1), a);
  a.pad_end_h = pad_end.h;
  a.pad_end_w = pad_end.w;
  a.average = op.kind == PoolKind::average;
  a.count_padding = op.count_padding;
  a.low = bounds->low;
  a.high = bounds->high;
  Tactic tactic = cpu_kernel_tactic(p, "pool");
  tactic.inputs[0].layout = tactic.outputs[0].layout = channels_last_layout();
  tactic.estimated_us = movement_and_arithmetic_us(context, p, 4000);
  return std::vector<CpuKernelCandidate>{
      {std::move(tactic),
       [kernel = context.kernels.pool, a](Weights) { return run_of(kernel, a); }}};
}

}  // namespace enginery
