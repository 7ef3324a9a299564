// Family gather_elements: elements of a linear tensor of any type by index along one dimension; the
// tensor may be a constant.
#include "engine/kernels/cpu/isa/moving/gather_elements.h"

#include "engine/tactics/cpu/kernel/indexed.h"

namespace enginery {

CpuKernelCandidates offer_cpu_gather_elements(const CpuKernelContext& context, const Problem& p) {
  GatherElementsArguments a{};
  TRY(a.from, element_places(p, std::get<GatherElements>(p.op).axis));
  const auto run = [kernel = context.kernels.gather_elements, a](const LaunchInputs& inputs,
                                                                 const Arguments& arguments) {
    GatherElementsArguments call = a;
    call.in = inputs.address(0, arguments);
    call.from.indices = inputs.address(1, arguments);
    call.out = arguments.outputs[0];
    kernel(call);
  };
  return indexed_candidate(context, p, "gather_elements", check_of_elements(p, a.from), run);
}

}  // namespace enginery
