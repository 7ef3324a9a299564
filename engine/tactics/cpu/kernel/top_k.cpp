// Family top_k: TopK of linear tensors with a known k.
#include "engine/kernels/cpu/isa/top_k.h"

#include "engine/tactics/cpu/kernel/cpu_kernel_family.h"
#include "engine/tactics/shapes/reading.h"

namespace enginery {
namespace {

std::optional<TopKType> top_k_type(DataType type) {
  if (type == DataType::float32) return TopKType::float32;
  if (type == DataType::int32) return TopKType::int32;
  if (type == DataType::int64) return TopKType::int64;
  return std::nullopt;
}

}  // namespace

CpuKernelCandidates offer_cpu_top_k(const CpuKernelContext& context, const Problem& p) {
  const auto& op = std::get<TopK>(p.op);
  const Dims& dims = input_dims(p, 0);
  const auto type = top_k_type(p.inputs[0].type.type);
  if (!type || dims.empty() || !p.epilogue.empty())
    return no_cpu_kernel("the largest of " + to_string(p.inputs[0].type));
  const auto axis = static_cast<size_t>(wrapped(op.axis, dims.size()));
  const AxisExtents e = linear_extents(dims, axis, axis);
  const int64_t k = output_dims(p)[axis];
  if (k < 1 || e.size > UINT32_MAX) return no_cpu_kernel("the largest none, or of too many");
  TopKArguments a{};
  a.outer = e.outer;
  a.size = e.size;
  a.inner = e.inner;
  a.k = k;
  a.type = *type;
  a.largest = op.largest;
  a.scratch_bytes = round_up(5 * e.size * element_bytes(p.inputs[0].type.type), 64);
  Tactic tactic = cpu_kernel_tactic(p, "top_k");
  tactic.workspace_bytes = a.scratch_bytes * context.threads;
  tactic.estimated_us = movement_us(context, p);
  auto prepare = [kernel = context.kernels.top_k, a](Weights) -> CpuKernelRun {
    return [kernel, a](const Arguments& arguments) {
      TopKArguments call = a;
      call.in = arguments.inputs[0];
      call.values = arguments.outputs[0];
      call.places = static_cast<int64_t*>(arguments.outputs[1]);
      call.scratch = arguments.workspace;
      kernel(call);
    };
  };
  return std::vector<CpuKernelCandidate>{{std::move(tactic), std::move(prepare)}};
}

}  // namespace enginery
