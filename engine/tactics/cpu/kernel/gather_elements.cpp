// Family gather_elements: elements of a linear tensor of any type by index along one dimension; the
// tensor may be a constant.
#include "engine/kernels/cpu/isa/moving/gather_elements.h"

#include <utility>

#include "engine/tactics/cpu/kernel/broadcast.h"
#include "engine/tactics/cpu/kernel/indexed.h"
#include "engine/tactics/shapes/reading.h"

namespace enginery {
namespace {

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
  if (input_dims(p, 0).empty()) return no_cpu_kernel("elements of a single number");
  TRY(const GatherElementsArguments a, gather_elements_arguments(p));
  const auto run = [kernel = context.kernels.gather_elements, a](
                       const std::vector<const void*>& inputs, void* output) {
    GatherElementsArguments call = a;
    call.in = inputs[0];
    call.indices = inputs[1];
    call.out = output;
    kernel(call);
  };
  return indexed_candidate(context, p, "gather_elements", check_of_elements(p, a.size), run);
}

}  // namespace enginery
