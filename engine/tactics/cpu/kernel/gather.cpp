// Family gather: slices of a linear tensor of any type by index; the tensor may be a constant.
#include "engine/kernels/cpu/isa/moving/gather.h"

#include "engine/tactics/cpu/kernel/broadcast.h"
#include "engine/tactics/shapes/reading.h"

namespace enginery {
namespace {

Status require_rows_within(const GatherArguments& a, const void* indices) {
  return require_within(Gather::kName, {indices, a.wide, a.count, a.size});
}

}  // namespace

CpuKernelCandidates offer_cpu_gather(const CpuKernelContext& context, const Problem& p) {
  const Dims& data = input_dims(p, 0);
  const DataType indices = p.inputs[1].type.type;
  if (data.empty() || !p.epilogue.empty()) return no_cpu_kernel("a gather from a single number");
  if (indices != DataType::int32 && indices != DataType::int64)
    return no_cpu_kernel("indices of " + to_string(p.inputs[1].type));
  const size_t axis = static_cast<size_t>(wrapped(std::get<Gather>(p.op).axis, data.size()));
  const AxisExtents e = linear_extents(data, axis, axis);
  GatherArguments a{};
  a.outer = e.outer;
  a.size = e.size;
  a.count = volume(input_dims(p, 1));
  a.row_bytes = e.inner * element_bytes(p.inputs[0].type.type);
  a.wide = indices == DataType::int64;
  Tactic tactic = cpu_kernel_tactic(p, "gather");
  tactic.estimated_us = movement_us(context, p);
  auto prepare = [kernel = context.kernels.gather, a, p](Weights weights) -> CpuKernelRun {
    return [kernel, a, inputs = LaunchInputs(p, weights)](const Arguments& arguments) {
      GatherArguments call = a;
      call.in = inputs.address(0, arguments);
      call.indices = inputs.address(1, arguments);
      call.out = arguments.outputs[0];
      kernel(call);
    };
  };
  const TensorDesc& places = p.inputs[1];
  if (places.value && !require_rows_within(a, places.value->byte_span().data()).ok())
    return no_cpu_kernel("an index outside of its axis");
  CpuDataCheck check;
  if (!places.value && !places.constant)
    check = [a](const Arguments& arguments) { return require_rows_within(a, arguments.inputs[1]); };
  CpuKernelCandidate candidate{std::move(tactic), std::move(prepare), std::move(check)};
  return std::vector<CpuKernelCandidate>{std::move(candidate)};
}

}  // namespace enginery
