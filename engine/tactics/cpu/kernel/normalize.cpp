// Family normalize: layer, RMS, instance and group normalisation of linear tensors, then relu or
// clip.
#include "engine/kernels/cpu/isa/normalize.h"

#include "engine/tactics/cpu/kernel/cpu_kernel_family.h"
#include "engine/tactics/shapes/norm_rows.h"

namespace enginery {
namespace {

// Scale (input 1) and bias (input 2): packed where they are constants, else read at each launch.
struct Factors {
  std::shared_ptr<const Tensor> packed[2];
  const float* of(size_t i, const Arguments& arguments) const {
    return packed[i] ? packed[i]->data<float>().data()
                     : static_cast<const float*>(arguments.inputs[i + 1]);
  }
};

Factors pack_factors(const NormRows& rows, Weights weights) {
  Factors out;
  for (size_t i = 0; i < (rows.has_bias ? 2 : 1); ++i) {
    if (weights[i + 1])
      out.packed[i] = std::make_shared<const Tensor>(norm_factors(rows, *weights[i + 1]));
  }
  return out;
}

Status require_normalize(const Problem& p, const NormRows& rows) {
  for (size_t i = 0; i < static_cast<size_t>(p.anchor_inputs); ++i) {
    const TensorDesc& desc = p.inputs[i];
    if (!desc.present) continue;
    if (desc.type.type != DataType::float32)
      return no_cpu_kernel("a normalisation of " + to_string(desc.type));
    if (i > 0 && !desc.constant && volume(desc.type.dims) != volume(rows.factors))
      return no_cpu_kernel("a run-time scale or bias that repeats");
  }
  return {};
}

}  // namespace

CpuKernelCandidates offer_cpu_normalize(const CpuKernelContext& context, const Problem& p) {
  TRY(const NormRows rows, norm_rows(p));
  CHECK_OK(require_normalize(p, rows));
  const auto bounds = read_bounds(p, BiasAllowed::no);
  if (!bounds) return no_cpu_kernel("a normalisation with this epilogue");
  Tactic tactic = cpu_kernel_tactic(p, "normalize");
  tactic.estimated_us = 2 * movement_us(context, p);
  NormalizeArguments a{};
  a.rows = rows.rows;
  a.size = rows.size;
  a.period = rows.period;
  a.step = rows.step;
  a.each = rows.each;
  a.epsilon = rows.epsilon;
  a.low = bounds->low;
  a.high = bounds->high;
  a.centred = rows.centred;
  auto prepare = [kernel = context.kernels.normalize, rows, a](Weights weights) -> CpuKernelRun {
    return [kernel, rows, a, factors = pack_factors(rows, weights)](const Arguments& arguments) {
      NormalizeArguments call = a;
      call.in = static_cast<const float*>(arguments.inputs[0]);
      call.out = static_cast<float*>(arguments.outputs[0]);
      call.scale = factors.of(0, arguments);
      call.bias = rows.has_bias ? factors.of(1, arguments) : nullptr;
      kernel(call);
    };
  };
  return std::vector<CpuKernelCandidate>{{std::move(tactic), std::move(prepare)}};
}

}  // namespace enginery
