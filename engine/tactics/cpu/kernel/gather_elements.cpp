// Family gather_elements: elements of a linear tensor of any type by index along one dimension; the
// tensor may be a constant.
#include "engine/kernels/cpu/isa/gather_elements.h"

#include "engine/tactics/cpu/kernel/broadcast.h"
#include "engine/tactics/shapes/reading.h"

namespace enginery {
namespace {

IndexList indices_of(const Problem& p, const GatherElementsArguments& a, const void* at) {
  return {at, a.wide, volume(input_dims(p, 1)), a.size};
}

// The indices and the output lie in order; the data's own sizes may be larger.
Result<GatherElementsArguments> gather_elements_arguments(const Problem& p) {
  const Dims& data = input_dims(p, 0);
  const auto axis = static_cast<size_t>(wrapped(std::get<GatherElements>(p.op).axis, data.size()));
  Dims strides = strides_of(data);
  GatherElementsArguments a{};
  a.element_bytes = static_cast<int>(element_bytes(p.inputs[0].type.type));
  a.wide = p.inputs[1].type.type == DataType::int64;
  a.size = data[axis];
  a.along = std::exchange(strides[axis], 0);
  TRY(a.over, broadcast_loops(output_dims(p), {strides}));
  return a;
}

}  // namespace

CpuKernelCandidates offer_cpu_gather_elements(const CpuKernelContext& context, const Problem& p) {
  const DataType indices = p.inputs[1].type.type;
  if (input_dims(p, 0).empty() || !p.epilogue.empty())
    return no_cpu_kernel("elements of a single number");
  if (indices != DataType::int32 && indices != DataType::int64)
    return no_cpu_kernel("indices of " + to_string(p.inputs[1].type));
  TRY(const GatherElementsArguments a, gather_elements_arguments(p));
  const TensorDesc& places = p.inputs[1];
  const auto check = [p, a](const void* at) {
    return require_within(GatherElements::kName, indices_of(p, a, at));
  };
  if (places.value && !check(places.value->byte_span().data()).ok())
    return no_cpu_kernel("an index outside of its axis");
  Tactic tactic = cpu_kernel_tactic(p, "gather_elements");
  tactic.estimated_us = movement_us(context, p);
  auto prepare = [kernel = context.kernels.gather_elements, a, p](Weights weights) -> CpuKernelRun {
    return [kernel, a, table = known_tensor(p, 0, weights),
            known_places = known_tensor(p, 1, weights)](const Arguments& arguments) {
      GatherElementsArguments call = a;
      call.in = table ? table->byte_span().data() : arguments.inputs[0];
      call.indices = known_places ? known_places->byte_span().data() : arguments.inputs[1];
      call.out = arguments.outputs[0];
      kernel(call);
    };
  };
  CpuKernelCandidate candidate{std::move(tactic), std::move(prepare)};
  if (!places.value && !places.constant)
    candidate.check = [check](const Arguments& arguments) { return check(arguments.inputs[1]); };
  return std::vector<CpuKernelCandidate>{std::move(candidate)};
}

}  // namespace enginery
