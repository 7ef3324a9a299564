#include "tuner/gate/bound.h"

#include <algorithm>
#include <cmath>

#include "tuner/gate/domain.h"

namespace enginery {
namespace {

constexpr double kUnit = 0x1p-24, kWideUnit = 0x1p-53;  // float32's unit roundoff, float64's
constexpr double kConfidence = 8;                       // lambda of the random walk
constexpr double kFunctionUnits = 64;  // of approximations: erf by polynomials, exp by a table
// Of those that a GPU has in hardware, and of weights of attention, which are rounded to the type
// that tensor cores multiply: bfloat16 has 3 bits less than float16 and tf32.
constexpr double kNarrowFunctionUnits = 4096, kBfloatFunctionUnits = 8 * kNarrowFunctionUnits;
constexpr double kPlainUnits = 4;       // a few steps without sums
constexpr double kTransformGrowth = 4;  // F(4x4, 3x3) in float32 reaches 0.5 on the three probes

struct Storage {
  double last_place, least;
};

Storage storage_of(DataType type) {
  switch (type) {
    case DataType::float16:
      return {0x1p-10, 0x1p-24};
    case DataType::bfloat16:
      return {0x1p-7, 0x1p-133};
    case DataType::float64:
      return {0x1p-52, 0x1p-1074};
    default:  // the references round to float32, whatever they are asked for
      return {0x1p-23, 0x1p-149};
  }
}

bool bends(ActivationKind kind) {
  switch (kind) {
    case ActivationKind::relu:
    case ActivationKind::clip:
    case ActivationKind::leaky_relu:
    case ActivationKind::hard_sigmoid:
    case ActivationKind::hard_swish:
    case ActivationKind::thresholded_relu:
      return false;
    default:
      return true;
  }
}

bool evaluates_functions(const Problem& problem) {
  if (const auto* activation = std::get_if<Activation>(&problem.op)) return bends(activation->kind);
  if (const auto* binary = std::get_if<Binary>(&problem.op))
    return binary->kind == BinaryKind::div || binary->kind == BinaryKind::pow;
  return is_one_of<Unary, BatchNorm, Lrn, InstanceNorm, LayerNorm, RmsNorm, GroupNorm, Softmax,
                   Reduce, Resize, Attention>(problem);
}

// The walks of all sums, one after the other.
Arithmetic of_region(const Problem& problem) {
  Arithmetic out;
  double walk = 0;
  for (const RegionPart& part : operators_of(problem)) {
    const Arithmetic own = arithmetic_of(part.problem);
    walk += std::sqrt(static_cast<double>(own.terms));
    out.functions |= own.functions;
  }
  out.terms = static_cast<int64_t>(std::ceil(walk * walk));
  out.inner = static_cast<int>(problem.inner.size());
  return out;
}

// One unit in the last place of the type in which the tactic multiplies.
double last_place_of(Precision compute) {
  const bool bfloat = compute == Precision::bf16 || compute == Precision::int8;
  return storage_of(bfloat ? DataType::bfloat16 : DataType::float16).last_place;
}

double function_units(Precision compute) {
  if (compute == Precision::fp32) return kFunctionUnits;
  return compute == Precision::bf16 ? kBfloatFunctionUnits : kNarrowFunctionUnits;
}

}  // namespace

Arithmetic arithmetic_of(const Problem& problem) {
  if (is_region(problem)) return of_region(problem);
  Arithmetic out{terms_of(problem), evaluates_functions(problem)};
  for (const EpilogueStep& step : problem.epilogue)
    out.functions |= step.kind == EpilogueKind::activation && bends(step.activation.kind);
  return out;
}

double ErrorBound::at(double value, double magnitude) const {
  return growth * magnitude + rounding * std::abs(value) + least;
}

ErrorBound error_bound(const Arithmetic& arithmetic, const Tactic& tactic, DataType stored) {
  const auto terms = static_cast<double>(arithmetic.terms);
  const double operators = 1.0 + arithmetic.inner;
  double units = operators * kPlainUnits + kConfidence * std::sqrt(terms);
  if (tactic.compute != Precision::fp32) units += terms;
  ErrorBound out;
  out.of_largest = tactic.algorithm != Algorithm::direct;
  if (out.of_largest) units *= kTransformGrowth;
  const bool narrow = tactic.compute != Precision::fp32;
  if (arithmetic.functions) units += operators * function_units(tactic.compute);
  out.growth = units * (stored == DataType::float64 ? kWideUnit : kUnit);
  if (narrow) out.growth += arithmetic.inner * last_place_of(tactic.compute);
  const Storage storage = storage_of(stored);
  out.rounding = storage.last_place;
  out.least = storage.least;
  return out;
}

}  // namespace enginery
