// Family scatter_elements: a linear tensor of any type with elements replaced or combined at
// indices along one dimension.
#include "engine/kernels/cpu/isa/moving/scatter_elements.h"

#include "engine/tactics/cpu/kernel/indexed.h"

namespace enginery {

CpuKernelCandidates offer_cpu_scatter_elements(const CpuKernelContext& context, const Problem& p) {
  const auto& op = std::get<ScatterElements>(p.op);
  ScatterElementsArguments a{};
  TRY(a.combining, combining_of(op.kind, p));
  TRY(a.to, element_places(p, op.axis));
  a.bytes = volume(input_dims(p, 0)) * a.to.element_bytes;
  const auto run = [kernel = context.kernels.scatter_elements, a](const LaunchInputs& inputs,
                                                                  const Arguments& arguments) {
    ScatterElementsArguments call = a;
    call.in = inputs.address(0, arguments);
    call.to.indices = inputs.address(1, arguments);
    call.updates = inputs.address(2, arguments);
    call.out = arguments.outputs[0];
    kernel(call);
  };
  return indexed_candidate(context, p, "scatter_elements", check_of_elements(p, a.to), run);
}

}  // namespace enginery
