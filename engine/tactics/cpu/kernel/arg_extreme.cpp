// Family arg_extreme: ArgMax and ArgMin of linear tensors along any dimension, of float32 or of
// integers of 32 and 64 bits.
#include "engine/kernels/cpu/isa/arg_extreme.h"

#include "engine/tactics/cpu/kernel/cpu_kernel_family.h"
#include "engine/tactics/shapes/reading.h"

namespace enginery {
namespace {

std::optional<ArgExtremeElement> element_of(DataType type) {
  switch (type) {
    case DataType::float32:
      return ArgExtremeElement::float32;
    case DataType::int32:
      return ArgExtremeElement::int32;
    case DataType::int64:
      return ArgExtremeElement::int64;
    default:
      return std::nullopt;
  }
}

}  // namespace

CpuKernelCandidates offer_cpu_arg_extreme(const CpuKernelContext& context, const Problem& p) {
  const auto& op = std::get<ArgMinMax>(p.op);
  const Dims& dims = input_dims(p, 0);
  const auto element = element_of(p.inputs[0].type.type);
  if (!element || dims.empty() || !p.epilogue.empty())
    return no_cpu_kernel("places in " + to_string(p.inputs[0].type));
  const size_t axis = static_cast<size_t>(wrapped(op.axis, dims.size()));
  const AxisExtents e = linear_extents(dims, axis, axis);
  if (e.size > INT32_MAX) return no_cpu_kernel("more than 2^31 places");
  Tactic tactic = cpu_kernel_tactic(p, "arg_extreme");
  tactic.estimated_us = movement_us(context, p);
  const ArgExtremeArguments a{nullptr, nullptr,    e.outer,        e.size,
                              e.inner, op.largest, op.select_last, *element};
  return std::vector<CpuKernelCandidate>{
      {std::move(tactic),
       [kernel = context.kernels.arg_extreme, a](Weights) { return run_of(kernel, a); }}};
}

}  // namespace enginery
