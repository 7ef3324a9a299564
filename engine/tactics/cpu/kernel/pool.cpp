// Family pool: max and average pooling of one or two spatial dimensions, channels-last.
#include "engine/kernels/cpu/isa/pool.h"

#include "engine/tactics/cpu/kernel/cpu_kernel_family.h"

namespace enginery {

CpuKernelCandidates offer_cpu_pool(const CpuKernelContext& context, const Problem& p) {
  CHECK_OK(require_plane(p, "pooling"));
  auto bounds = read_bounds(p, BiasAllowed::no);
  if (!bounds) return no_cpu_kernel("pooling with more than a clip after it");
  const auto& op = std::get<Pooling>(p.op);
  Plane in = plane_of_dims(input_dims(p, 0)), out = plane_of_dims(output_dims(p));
  Plane kernel = plane_of(op.kernel, 1), stride = plane_of(op.strides, 1),
        dilation = plane_of(op.dilations, 1);
  Plane pad = plane_of(op.pads_begin, 0), pad_end = plane_of(op.pads_end, 0);
  PoolArguments a{};
  a.n = input_dims(p, 0)[0];
  a.channels = input_dims(p, 0)[1];
  a.in_h = in.h;
  a.in_w = in.w;
  a.out_h = out.h;
  a.out_w = out.w;
  a.kernel_h = kernel.h;
  a.kernel_w = kernel.w;
  a.stride_h = stride.h;
  a.stride_w = stride.w;
  a.dilation_h = dilation.h;
  a.dilation_w = dilation.w;
  a.pad_h = pad.h;
  a.pad_w = pad.w;
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
