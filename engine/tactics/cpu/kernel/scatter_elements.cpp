// Family scatter_elements: a linear tensor of any type with elements replaced at indices along one
// dimension.
#include "engine/kernels/cpu/isa/moving/scatter_elements.h"

#include <utility>

#include "engine/tactics/cpu/kernel/broadcast.h"
#include "engine/tactics/cpu/kernel/indexed.h"
#include "engine/tactics/shapes/reading.h"

namespace enginery {
namespace {

// The indices and the updates lie in order; the tensor's own sizes may be larger.
Result<ScatterElementsArguments> scatter_elements_arguments(const Problem& p) {
  const Dims& data = input_dims(p, 0);
  const auto axis = static_cast<size_t>(wrapped(std::get<ScatterElements>(p.op).axis, data.size()));
  Dims strides = strides_of(data);
  ScatterElementsArguments a{};
  a.element_bytes = static_cast<int>(element_bytes(p.inputs[0].type.type));
  a.wide = p.inputs[1].type.type == DataType::int64;
  a.bytes = volume(data) * a.element_bytes;
  a.size = data[axis];
  a.along = std::exchange(strides[axis], 0);
  TRY(a.over, broadcast_loops(input_dims(p, 1), {strides}));
  return a;
}

}  // namespace

CpuKernelCandidates offer_cpu_scatter_elements(const CpuKernelContext& context, const Problem& p) {
  if (std::get<ScatterElements>(p.op).kind != ScatterKind::replace)
    return no_cpu_kernel("a scatter that combines");
  if (input_dims(p, 0).empty()) return no_cpu_kernel("elements of a single number");
  TRY(const ScatterElementsArguments a, scatter_elements_arguments(p));
  const auto run = [kernel = context.kernels.scatter_elements, a](
                       const std::vector<const void*>& inputs, void* output) {
    ScatterElementsArguments call = a;
    call.in = inputs[0];
    call.indices = inputs[1];
    call.updates = inputs[2];
    call.out = output;
    kernel(call);
  };
  return indexed_candidate(context, p, "scatter_elements", check_of_elements(p, a.size), run);
}

}  // namespace enginery
