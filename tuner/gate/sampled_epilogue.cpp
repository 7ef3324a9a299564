#include <algorithm>
#include <cmath>
#include <limits>

#include "tuner/gate/sampled_reference.h"

namespace enginery {
namespace {

// How much an activation may stretch a difference, at most.
double steepness(const Activation& a) {
  switch (a.kind) {
    case ActivationKind::leaky_relu:
      return std::max(1.0f, std::abs(a.alpha));
    case ActivationKind::elu:
      return std::max(1.0f, std::abs(a.alpha));
    case ActivationKind::selu:
      return std::abs(a.beta) * std::max(1.0f, std::abs(a.alpha));
    case ActivationKind::hard_sigmoid:
      return std::abs(a.alpha);
    case ActivationKind::hard_swish:
      return 1.5;
    case ActivationKind::swish:
    case ActivationKind::mish:
    case ActivationKind::gelu_erf:
    case ActivationKind::gelu_tanh:
      return 1.2;
    default:
      return 1;
  }
}

// An approximation of a bent function errs by its scale, 1, where its value is small, too.
double scale_of(ActivationKind kind) {
  switch (kind) {
    case ActivationKind::relu:
    case ActivationKind::clip:
    case ActivationKind::leaky_relu:
    case ActivationKind::thresholded_relu:
      return 0;
    default:
      return 1;
  }
}

}  // namespace

SampledValue activated(const Activation& a, SampledValue v) {
  // Where rounding may carry the value over the jump, either side is right.
  constexpr double kNear = 1e-2;
  if (a.kind == ActivationKind::thresholded_relu &&
      std::abs(v.value - static_cast<double>(a.alpha)) <= kNear * v.magnitude)
    v.magnitude = std::numeric_limits<double>::infinity();
  const double y = activate(a, static_cast<float>(v.value));
  return {y, steepness(a) * v.magnitude + std::abs(y) + scale_of(a.kind)};
}

SampledValue sampled_epilogue(const Problem& problem, const std::vector<const Tensor*>& inputs,
                              const std::vector<int64_t>& at, SampledValue v) {
  const bool matrix = is_one_of<MatMul, Gemm>(problem);
  for (const EpilogueStep& step : problem.epilogue) {
    double operand = 0;
    if (step.operand >= 0) {
      const Tensor& t = *inputs[static_cast<size_t>(step.operand)];
      const size_t index = step.kind == EpilogueKind::bias
                               ? static_cast<size_t>(matrix ? at.back() : at[1])
                               : broadcast_index(t.dims(), at);
      operand = t.data<float>()[index];
    }
    switch (step.kind) {
      case EpilogueKind::activation:
        v = activated(step.activation, v);
        break;
      case EpilogueKind::bias:
      case EpilogueKind::add:
        v = {v.value + operand, v.magnitude + std::abs(operand)};
        break;
      case EpilogueKind::multiply:
        v = {v.value * operand, v.magnitude * std::abs(operand)};
        break;
    }
  }
  return v;
}

}  // namespace enginery
