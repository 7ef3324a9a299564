// Family reduce: reductions over one dimension or several neighbours, and global pooling.
#include "engine/kernels/cpu/isa/reduce.h"

#include <algorithm>

#include "engine/tactics/cpu/kernel/cpu_kernel_family.h"

namespace enginery {
namespace {

std::optional<CpuReduction> reduction_of(const Op& op) {
  if (auto* pool = std::get_if<GlobalPooling>(&op))
    return pool->kind == PoolKind::max ? CpuReduction::max : CpuReduction::mean;
  switch (std::get<Reduce>(op).kind) {
    case ReduceKind::sum:
      return CpuReduction::sum;
    case ReduceKind::mean:
      return CpuReduction::mean;
    case ReduceKind::max:
      return CpuReduction::max;
    case ReduceKind::min:
      return CpuReduction::min;
    case ReduceKind::sum_square:
      return CpuReduction::sum_square;
    default:
      return {};
  }
}

// The dimensions that are reduced, ascending and without gaps; empty otherwise.
std::vector<int64_t> reduced_axes(const Op& op, int64_t rank) {
  std::vector<int64_t> axes;
  if (std::holds_alternative<GlobalPooling>(op)) {
    for (int64_t d = 2; d < rank; ++d) axes.push_back(d);
    return axes;
  }
  for (int64_t axis : std::get<Reduce>(op).axes) axes.push_back(axis < 0 ? axis + rank : axis);
  std::sort(axes.begin(), axes.end());
  for (size_t i = 1; i < axes.size(); ++i) {
    if (axes[i] != axes[i - 1] + 1) return {};
  }
  return axes;
}

CpuKernelCandidate reduction_candidate(const CpuKernelContext& context, const Problem& p,
                                       const Layout& layout, const AxisExtents& e,
                                       CpuReduction kind) {
  Tactic tactic = cpu_kernel_tactic(p, "reduce");
  tactic.inputs[0].layout = layout;
  ReduceArguments a{nullptr, nullptr, e.outer, e.size, e.inner, kind};
  tactic.estimated_us = movement_us(context, p);
  return {std::move(tactic),
          [kernel = context.kernels.reduce, a](Weights) { return run_of(kernel, a); }};
}

}  // namespace

CpuKernelCandidates offer_cpu_reduce(const CpuKernelContext& context, const Problem& p) {
  auto kind = reduction_of(p.op);
  const Dims& dims = input_dims(p, 0);
  int64_t rank = static_cast<int64_t>(dims.size());
  std::vector<int64_t> axes = reduced_axes(p.op, rank);
  if (!kind || axes.empty() || !p.epilogue.empty()) return no_cpu_kernel("this reduction");
  if (p.inputs[0].type.type != DataType::float32)
    return no_cpu_kernel("a reduction of " + to_string(p.inputs[0].type));
  std::vector<CpuKernelCandidate> out;
  bool planes = axes.front() == 2 && axes.back() == rank - 1 && rank <= 5;
  if (planes) {  // the output's planes have one pixel: channels-last and linear are the same there
    AxisExtents e{dims[0], volume(dims) / (dims[0] * dims[1]), dims[1]};
    out.push_back(reduction_candidate(context, p, {LayoutKind::channels_last, 0}, e, *kind));
  }
  AxisExtents e =
      linear_extents(dims, static_cast<size_t>(axes.front()), static_cast<size_t>(axes.back()));
  out.push_back(reduction_candidate(context, p, {}, e, *kind));
  return out;
}

}  // namespace enginery
