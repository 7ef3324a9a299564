// Family reduce: reductions over any dimensions, and global pooling.
#include "engine/kernels/cpu/isa/reduce.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/tactics/cpu/kernel/cpu_kernel_family.h"

namespace enginery {
namespace {

enum class Finish { none, root, logarithm };

// What elements become first, how results of a first reduction are reduced again, and what becomes
// of the last ones.
struct ReductionSteps {
  CpuReduction first, again;
  Finish finish = Finish::none;
};

std::optional<ReductionSteps> steps_of(const Op& op) {
  if (auto* pool = std::get_if<GlobalPooling>(&op)) {
    const auto kind = pool->kind == PoolKind::max ? CpuReduction::max : CpuReduction::mean;
    return ReductionSteps{kind, kind};
  }
  switch (std::get<Reduce>(op).kind) {
    case ReduceKind::sum:
      return ReductionSteps{CpuReduction::sum, CpuReduction::sum};
    case ReduceKind::mean:
      return ReductionSteps{CpuReduction::mean, CpuReduction::mean};
    case ReduceKind::max:
      return ReductionSteps{CpuReduction::max, CpuReduction::max};
    case ReduceKind::min:
      return ReductionSteps{CpuReduction::min, CpuReduction::min};
    case ReduceKind::prod:
      return ReductionSteps{CpuReduction::prod, CpuReduction::prod};
    case ReduceKind::sum_square:
      return ReductionSteps{CpuReduction::sum_square, CpuReduction::sum};
    case ReduceKind::l1:
      return ReductionSteps{CpuReduction::l1, CpuReduction::sum};
    case ReduceKind::l2:
      return ReductionSteps{CpuReduction::sum_square, CpuReduction::sum, Finish::root};
    case ReduceKind::log_sum:
      return ReductionSteps{CpuReduction::sum, CpuReduction::sum, Finish::logarithm};
    case ReduceKind::log_sum_exp:
      return ReductionSteps{CpuReduction::log_sum_exp, CpuReduction::log_sum_exp};
  }
  return {};
}

bool has_integers(const ReductionSteps& steps) {
  return steps.finish == Finish::none && steps.first <= CpuReduction::prod;
}

// The dimensions that are reduced, ascending.
std::vector<int64_t> reduced_axes(const Op& op, int64_t rank) {
  std::vector<int64_t> axes;
  if (std::holds_alternative<GlobalPooling>(op)) {
    for (int64_t d = 2; d < rank; ++d) axes.push_back(d);
    return axes;
  }
  const auto& reduce = std::get<Reduce>(op);
  if (reduce.axes.empty() && !reduce.none_is_identity) {
    axes.resize(static_cast<size_t>(rank));
    std::iota(axes.begin(), axes.end(), int64_t{0});
  }
  for (int64_t axis : reduce.axes) axes.push_back(wrapped(axis, static_cast<size_t>(rank)));
  std::sort(axes.begin(), axes.end());
  return axes;
}

// Neighbouring dimensions that one call of the kernel reduces: [first, last].
struct AxisRun {
  int64_t first, last;
};

// From the innermost on.
std::vector<AxisRun> runs_of(const std::vector<int64_t>& axes) {
  std::vector<AxisRun> runs;
  for (size_t i = axes.size(); i-- > 0;) {
    if (!runs.empty() && runs.back().first == axes[i] + 1)
      runs.back().first = axes[i];
    else
      runs.push_back({axes[i], axes[i]});
  }
  return runs;
}

// Nothing is left to do of integers.
void finish_values(Finish finish, void* out, int64_t n) {
  auto* values = static_cast<float*>(out);
  for (int64_t i = 0; i < n && finish != Finish::none; ++i)
    values[i] = finish == Finish::root ? std::sqrt(values[i]) : std::log(values[i]);
}

// Calls one after another, each reducing what the one before left in the workspace.
CpuKernelCandidate reduction_candidate(const CpuKernelContext& context, const Problem& p,
                                       const Layout& layout,
                                       const std::vector<ReduceArguments>& calls, Finish finish) {
  Tactic tactic = cpu_kernel_tactic(p, "reduce");
  tactic.inputs[0].layout = layout;
  tactic.estimated_us = movement_us(context, p);
  const int64_t each = element_bytes(p.inputs[0].type.type);
  for (size_t i = 0; i + 1 < calls.size(); ++i)
    tactic.workspace_bytes += calls[i].outer * calls[i].inner * each;
  return {std::move(tactic), [kernel = context.kernels.reduce, calls, finish, each](Weights) {
            return [kernel, calls, finish, each](const Arguments& arguments) {
              const void* in = arguments.inputs[0];
              auto* left = static_cast<char*>(arguments.workspace);
              for (size_t i = 0; i < calls.size(); ++i) {
                ReduceArguments call = calls[i];
                const bool is_last = i + 1 == calls.size();
                call.in = in;
                call.out = is_last ? arguments.outputs[0] : left;
                kernel(call);
                in = left;
                left += is_last ? 0 : call.outer * call.inner * each;
                if (is_last) finish_values(finish, call.out, call.outer * call.inner);
              }
            };
          }};
}

std::vector<ReduceArguments> calls_over(Dims dims, const std::vector<AxisRun>& runs,
                                        const ReductionSteps& steps, NumberType type) {
  std::vector<ReduceArguments> calls;
  for (const AxisRun& run : runs) {
    const auto first = static_cast<size_t>(run.first), last = static_cast<size_t>(run.last);
    const AxisExtents e = linear_extents(dims, first, last);
    const CpuReduction kind = calls.empty() ? steps.first : steps.again;
    calls.push_back({nullptr, nullptr, e.outer, e.size, e.inner, kind, type});
    for (size_t d = first; d <= last; ++d) dims[d] = 1;
  }
  return calls;
}

}  // namespace

CpuKernelCandidates offer_cpu_reduce(const CpuKernelContext& context, const Problem& p) {
  const auto steps = steps_of(p.op);
  const Dims& dims = input_dims(p, 0);
  int64_t rank = static_cast<int64_t>(dims.size());
  std::vector<int64_t> axes = reduced_axes(p.op, rank);
  if (!steps || axes.empty() || !p.epilogue.empty()) return no_cpu_kernel("this reduction");
  const auto type = number_type(p.inputs[0].type.type);
  if (!type || (*type != NumberType::float32 && !has_integers(*steps)))
    return no_cpu_kernel("a reduction of " + to_string(p.inputs[0].type));
  const std::vector<AxisRun> runs = runs_of(axes);
  std::vector<CpuKernelCandidate> out;
  const bool planes = runs.size() == 1 && axes.front() == 2 && axes.back() == rank - 1 && rank <= 5;
  if (planes) {  // the output's planes have one pixel: channels-last and linear are the same there
    const ReduceArguments a{nullptr, nullptr,      dims[0], volume(dims) / (dims[0] * dims[1]),
                            dims[1], steps->first, *type};
    out.push_back(
        reduction_candidate(context, p, {LayoutKind::channels_last, 0}, {a}, steps->finish));
  }
  out.push_back(
      reduction_candidate(context, p, {}, calls_over(dims, runs, *steps, *type), steps->finish));
  return out;
}

}  // namespace enginery
