// Family gather_nd: rows of a linear tensor of any type by several indices each; the tensor may be
// a constant.
#include "engine/kernels/cpu/isa/moving/gather_nd.h"

#include "engine/tactics/cpu/kernel/indexed.h"

namespace enginery {

CpuKernelCandidates offer_cpu_gather_nd(const CpuKernelContext& context, const Problem& p) {
  GatherNdArguments a{};
  TRY(a.from, row_places(p, static_cast<size_t>(std::get<GatherNd>(p.op).batch_dims)));
  const auto run = [kernel = context.kernels.gather_nd, a](const LaunchInputs& inputs,
                                                           const Arguments& arguments) {
    GatherNdArguments call = a;
    call.in = inputs.address(0, arguments);
    call.from.indices = inputs.address(1, arguments);
    call.out = arguments.outputs[0];
    kernel(call);
  };
  return indexed_candidate(context, p, "gather_nd", check_of_rows(p, a.from), run);
}

}  // namespace enginery
