// Family scatter_nd: a linear tensor of any type with some of its rows replaced or
// combined with others.
#include "engine/kernels/cpu/isa/moving/scatter_nd.h"

#include "engine/tactics/cpu/kernel/indexed.h"

namespace enginery {

CpuKernelCandidates offer_cpu_scatter_nd(const CpuKernelContext& context, const Problem& p) {
  ScatterNdArguments a{};
  TRY(a.combining, combining_of(std::get<ScatterNd>(p.op).kind, p));
  TRY(a.to, row_places(p, 0));
  a.bytes = volume(input_dims(p, 0)) * element_bytes(p.inputs[0].type.type);
  const auto run = [kernel = context.kernels.scatter_nd, a](const LaunchInputs& inputs,
                                                            const Arguments& arguments) {
    ScatterNdArguments call = a;
    call.in = inputs.address(0, arguments);
    call.to.indices = inputs.address(1, arguments);
    call.updates = inputs.address(2, arguments);
    call.out = arguments.outputs[0];
    kernel(call);
  };
  return indexed_candidate(context, p, "scatter_nd", check_of_rows(p, a.to), run);
}

}  // namespace enginery
