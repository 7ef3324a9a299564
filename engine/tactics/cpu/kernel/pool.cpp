// Family pool: max and average pooling of one or two spatial dimensions, channels-last, and in
// blocks of channels: each block of an image is a channels-last image of its own.
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
  std::vector<CpuKernelCandidate> out;
  const auto offer = [&](const Layout& layout, const PoolArguments& arguments) {
    Tactic tactic = cpu_kernel_tactic(p, "pool");
    tactic.inputs[0].layout = tactic.outputs[0].layout = layout;
    tactic.estimated_us = movement_and_arithmetic_us(context, p, 4000);
    out.push_back({std::move(tactic), [kernel = context.kernels.pool, arguments](Weights) {
                     return run_of(kernel, arguments);
                   }});
  };
  offer(channels_last_layout(), a);
  const int32_t block = context.block();
  if (has_channels_last(input_dims(p, 0)) && a.channels % block == 0) {
    a.n *= a.channels / block;
    a.channels = block;
    offer({LayoutKind::blocked, block}, a);
  }
  return out;
}

}  // namespace enginery
