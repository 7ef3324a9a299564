// Family pool: max and average pooling of one or two spatial dimensions, channels-last, in blocks
// of channels, each of which is a channels-last image of its own, and plane by plane. 8-bit maxima
// channels-last.
#include "engine/kernels/cpu/isa/pool.h"

#include "engine/kernels/cpu/isa/pool_bytes.h"
#include "engine/tactics/cpu/kernel/cpu_kernel_family.h"

namespace enginery {
namespace {

// Of 8-bit integers, whose only pooling is the maximum.
CpuKernelCandidates offer_pool_bytes(const CpuKernelContext& context, const Problem& p) {
  const size_t rank = input_dims(p, 0).size();
  if (rank > 4) return no_cpu_kernel("pooling of rank " + std::to_string(rank));
  if (!p.epilogue.empty()) return no_cpu_kernel("pooling of 8 bits with more after it");
  const auto& op = std::get<Pooling>(p.op);
  PoolBytesArguments a{};
  set_windows(p, op, plane_of(op.kernel, 1), a);
  a.is_signed = p.inputs[0].type.type == DataType::int8;
  Tactic tactic = cpu_kernel_tactic(p, "pool_bytes");
  tactic.inputs[0].layout = tactic.outputs[0].layout = channels_last_layout();
  tactic.estimated_us = movement_and_arithmetic_us(context, p, 16000);
  return std::vector<CpuKernelCandidate>{
      {std::move(tactic),
       [kernel = context.kernels.pool_bytes, a](Weights) { return run_of(kernel, a); }}};
}

}  // namespace

CpuKernelCandidates offer_cpu_pool(const CpuKernelContext& context, const Problem& p) {
  const DataType type = p.inputs[0].type.type;
  if (type == DataType::int8 || type == DataType::uint8) return offer_pool_bytes(context, p);
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
  a.in_pixel = context.in_pitch > 0 ? context.in_pitch : a.channels;
  a.out_pixel = context.out_pitch > 0 ? context.out_pitch : a.channels;
  std::vector<CpuKernelCandidate> out;
  const auto offer = [&](const char* id, auto kernel, const Layout& layout) {
    Tactic tactic = cpu_kernel_tactic(p, id);
    tactic.inputs[0].layout = tactic.outputs[0].layout = layout;
    tactic.estimated_us = movement_and_arithmetic_us(context, p, 4000);
    out.push_back({std::move(tactic), [kernel, a](Weights) { return run_of(kernel, a); }});
  };
  offer("pool", context.kernels.pool, channels_last_layout());
  out.back().tactic.reads_pitched = out.back().tactic.writes_pitched = true;
  if (context.tiles) {  // between products in bfloat16
    CpuKernelCandidate narrow = out.back();
    narrow.tactic.compute = Precision::bf16;
    narrow.tactic.inputs[0].type = narrow.tactic.outputs[0].type = DataType::bfloat16;
    narrow.tactic.estimated_us *= kNarrowShare;
    PoolArguments b = a;
    b.narrow = true;
    narrow.prepare = [kernel = context.kernels.pool, b](Weights) { return run_of(kernel, b); };
    out.push_back(std::move(narrow));
  }
  if ((a.kernel_w - 1) * a.dilation_w < kPoolRow)
    offer("pool_planes", context.kernels.pool_planes, {});
  const int32_t block = context.block();
  if (has_channels_last(input_dims(p, 0)) && a.channels % block == 0) {
    a.n *= a.channels / block;
    a.channels = a.in_pixel = a.out_pixel = block;
    offer("pool", context.kernels.pool, {LayoutKind::blocked, block});
  }
  return out;
}

}  // namespace enginery
