// Family softmax: over any one dimension, linear; over the channels, channels-last.
#include "engine/kernels/cpu/isa/softmax.h"

#include "engine/tactics/cpu/kernel/cpu_kernel_family.h"

namespace enginery {

CpuKernelCandidates offer_cpu_softmax(const CpuKernelContext& context, const Problem& p) {
  const auto& op = std::get<Softmax>(p.op);
  const Dims& dims = input_dims(p, 0);
  if (dims.empty() || !p.epilogue.empty())
    return no_cpu_kernel("softmax of a scalar or with an epilogue");
  if (p.inputs[0].type.type != DataType::float32)
    return no_cpu_kernel("softmax of " + to_string(p.inputs[0].type));
  size_t axis =
      static_cast<size_t>(op.axis < 0 ? op.axis + static_cast<int64_t>(dims.size()) : op.axis);
  std::vector<CpuKernelCandidate> out;
  auto append = [&](const Layout& layout, const AxisExtents& e) {
    Tactic tactic = cpu_kernel_tactic(p, "softmax");
    tactic.inputs[0].layout = tactic.outputs[0].layout = layout;
    tactic.estimated_us = 3 * movement_us(context, p);
    SoftmaxArguments a{nullptr, nullptr, e.outer, e.size, e.inner, op.log};
    out.push_back({std::move(tactic),
                   [kernel = context.kernels.softmax, a](Weights) { return run_of(kernel, a); }});
  };
  if (has_channels_last(dims) && axis == 1)
    append(channels_last_layout(), {volume(dims) / dims[1], dims[1], 1});
  append({}, linear_extents(dims, axis, axis));
  return out;
}

}  // namespace enginery
