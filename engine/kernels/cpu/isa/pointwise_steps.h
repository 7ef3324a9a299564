// The steps of a pointwise chain on values that lie side by side: what the kernel pointwise and
// those with an epilogue have in common. A step takes n numbers `from` somewhere, which may be
// where it leaves its values. NaN goes through every step but thresholded_relu.
#pragma once

#include "engine/kernels/cpu/isa/pointwise.h"
#include "engine/kernels/cpu/isa/simd.h"

namespace enginery {
namespace {

inline float sigmoid_of(float v) {
  return 1.0f / (1.0f + fast_exp(-v));
}
// A sigmoid for v * gate_of(v), which saves it two cases: what it gives for NaN need not be NaN,
// since v is, and 0 below -86.6 is near enough.
inline float gate_of(float v) {
  const float e = fast_exp_or_zero(-__builtin_fabsf(v)), upper = 1.0f / (1.0f + e);
  return v < 0 ? e * upper : upper;
}
// log(1 + e^v): the logarithm of 1 + t by 2 artanh(t / (2 + t)), where t is 1 at most.
inline float softplus_of(float v) {
  const float t = fast_exp(-__builtin_fabsf(v)), s = t / (2.0f + t), z = s * s;
  float p = 1.0f / 15;
  p = p * z + 1.0f / 13;
  p = p * z + 1.0f / 11;
  p = p * z + 1.0f / 9;
  p = p * z + 1.0f / 7;
  p = p * z + 1.0f / 5;
  p = p * z + 1.0f / 3;
  return (v > 0 ? v : 0.0f) + 2.0f * (p * z * s + s);
}
// v tanh(softplus(v)): of e = e^v that is v (e^2 + 2e) / (e^2 + 2e + 2), and v itself from 20 on.
inline float mish_of(float v) {
  const float e = v < -87.3f ? 0.0f : fast_exp(v > 20 ? 20.0f : v), n = e * (e + 2.0f);
  return v * (n / (n + 2.0f));
}
// Near 0 the difference from 1 would keep few digits of the value. (Cephes tanhf)
inline float tanh_of(float v) {
  const float z = v * v;
  float p = -5.70498872745e-3f;
  p = p * z + 2.06390887954e-2f;
  p = p * z - 5.37397155531e-2f;
  p = p * z + 1.33314422036e-1f;
  p = p * z - 3.33332819422e-1f;
  const float near = p * z * v + v, far = 1.0f - 2.0f / (fast_exp(2.0f * v) + 1.0f);
  return z < 0.390625f ? near : far;
}

// A quotient of polynomials on [-4, 4]: error below 4.5e-7. (Eigen, generic_fast_erf)
inline float erf_of(float v) {
  const float x = clip(v, -4.0f, 4.0f), z = x * x;
  float p = -2.72614225801306e-10f;
  p = p * z + 2.77068142495902e-08f;
  p = p * z - 2.10102402082508e-06f;
  p = p * z - 5.69250639462346e-05f;
  p = p * z - 7.34990630326855e-04f;
  p = p * z - 2.95459980854025e-03f;
  p = p * z - 1.60960333262415e-02f;
  float q = -1.45660718464996e-05f;
  q = q * z - 2.13374055278905e-04f;
  q = q * z - 1.68282697438203e-03f;
  q = q * z - 7.37332916720468e-03f;
  q = q * z - 1.42647390514189e-02f;
  return clip(x * p / q, -1.0f, 1.0f);
}

// The functions that are the C library's, one value at a time.
inline void apply_library_function(PointwiseFunction function, float* values, const float* from,
                                   int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    float v = from[i];
    switch (function) {
      case PointwiseFunction::log:
        v = __builtin_logf(v);
        break;
      case PointwiseFunction::sin:
        v = __builtin_sinf(v);
        break;
      case PointwiseFunction::cos:
        v = __builtin_cosf(v);
        break;
      case PointwiseFunction::tan:
        v = __builtin_tanf(v);
        break;
      case PointwiseFunction::asin:
        v = __builtin_asinf(v);
        break;
      case PointwiseFunction::acos:
        v = __builtin_acosf(v);
        break;
      case PointwiseFunction::atan:
        v = __builtin_atanf(v);
        break;
      case PointwiseFunction::sinh:
        v = __builtin_sinhf(v);
        break;
      case PointwiseFunction::cosh:
        v = __builtin_coshf(v);
        break;
      case PointwiseFunction::asinh:
        v = __builtin_asinhf(v);
        break;
      case PointwiseFunction::acosh:
        v = __builtin_acoshf(v);
        break;
      case PointwiseFunction::atanh:
        v = __builtin_atanhf(v);
        break;
      default:
        break;
    }
    values[i] = v;
  }
}

#define ENGINERY_EACH(expression)                         \
  {                                                       \
    _Pragma("omp simd") for (int64_t i = 0; i < n; ++i) { \
      float v = from[i];                                  \
      values[i] = (expression);                           \
    }                                                     \
    return;                                               \
  }

// The rarer functions: powers of one exponent, those of softplus, and the library's.
inline void apply_rarer(PointwiseFunction function, float* values, const float* from, int64_t n) {
  switch (function) {
    case PointwiseFunction::square:
      ENGINERY_EACH(v * v)
    case PointwiseFunction::cube:
      ENGINERY_EACH(v * v * v)
    case PointwiseFunction::power_of_half:
      ENGINERY_EACH(v == -__builtin_inff() ? __builtin_inff() : __builtin_sqrtf(v) + 0.0f)
    case PointwiseFunction::softplus:
      ENGINERY_EACH(softplus_of(v))
    case PointwiseFunction::mish:
      ENGINERY_EACH(mish_of(v))
    default:
      return apply_library_function(function, values, from, n);
  }
}

// The step on n values. alpha and beta as engine/ops/activation.h defines them.
inline void apply(const PointwiseStep& s, float* values, const float* from, int64_t n) {
  float alpha = s.alpha, beta = s.beta;
  switch (s.function) {
    case PointwiseFunction::relu:
      ENGINERY_EACH(0.0f > v ? 0.0f : v)
    case PointwiseFunction::clip:
      ENGINERY_EACH(clip(v, alpha, beta))
    case PointwiseFunction::leaky_relu:
      ENGINERY_EACH(v < 0 ? alpha * v : v)
    case PointwiseFunction::elu:
      ENGINERY_EACH(v < 0 ? alpha * (fast_exp(v) - 1.0f) : v)
    case PointwiseFunction::selu:
      ENGINERY_EACH(beta * (v < 0 ? alpha * (fast_exp(v) - 1.0f) : v))
    case PointwiseFunction::celu:
      ENGINERY_EACH(v < 0 ? alpha * (fast_exp(v / alpha) - 1.0f) : v)
    case PointwiseFunction::sigmoid:
      ENGINERY_EACH(sigmoid_of(v))
    case PointwiseFunction::hard_sigmoid:
      ENGINERY_EACH(clip(alpha * v + beta, 0, 1))
    case PointwiseFunction::hard_swish:
      ENGINERY_EACH(v * clip(v * (1.0f / 6) + 0.5f, 0, 1))
    case PointwiseFunction::swish:
      ENGINERY_EACH(v * gate_of(v))
    case PointwiseFunction::tanh:
      ENGINERY_EACH(tanh_of(v))
    case PointwiseFunction::softsign:
      ENGINERY_EACH(v / (1.0f + __builtin_fabsf(v)))
    case PointwiseFunction::gelu_erf:
      ENGINERY_EACH(0.5f * v * (1.0f + erf_of(v * 0.70710678f)))
    case PointwiseFunction::gelu_tanh:
      ENGINERY_EACH(v * gate_of(1.59576912f * (v + 0.044715f * v * v * v)))
    case PointwiseFunction::thresholded_relu:
      ENGINERY_EACH(v > alpha ? v : 0.0f)
    case PointwiseFunction::abs:
      ENGINERY_EACH(__builtin_fabsf(v))
    case PointwiseFunction::neg:
      ENGINERY_EACH(-v)
    case PointwiseFunction::exp:
      ENGINERY_EACH(v > 88.72f ? __builtin_inff() : v < -87.3f ? 0.0f : fast_exp(v))
    case PointwiseFunction::sqrt:
      ENGINERY_EACH(__builtin_sqrtf(v))
    case PointwiseFunction::reciprocal:
      ENGINERY_EACH(1.0f / v)
    case PointwiseFunction::sign:
      ENGINERY_EACH(v > 0 ? 1.0f : v < 0 ? -1.0f : v)
    case PointwiseFunction::erf:
      ENGINERY_EACH(erf_of(v))
    case PointwiseFunction::floor:
      ENGINERY_EACH(__builtin_floorf(v))
    case PointwiseFunction::ceil:
      ENGINERY_EACH(__builtin_ceilf(v))
    case PointwiseFunction::round:
      ENGINERY_EACH(__builtin_rintf(v))
    default:
      return apply_rarer(s.function, values, from, n);
  }
}

#undef ENGINERY_EACH
#define ENGINERY_EACH(expression)                         \
  {                                                       \
    _Pragma("omp simd") for (int64_t i = 0; i < n; ++i) { \
      float v = from[i], x = operand[i * stride];         \
      values[i] = (expression);                           \
    }                                                     \
    return;                                               \
  }

inline void combine_with(PointwiseFunction f, float* values, const float* from,
                         const float* __restrict operand, int64_t stride, int64_t n) {
  switch (f) {
    case PointwiseFunction::add:
      ENGINERY_EACH(v + x)
    case PointwiseFunction::sub:
      ENGINERY_EACH(v - x)
    case PointwiseFunction::reverse_sub:
      ENGINERY_EACH(x - v)
    case PointwiseFunction::mul:
      ENGINERY_EACH(v * x)
    case PointwiseFunction::div:
      ENGINERY_EACH(v / x)
    case PointwiseFunction::reverse_div:
      ENGINERY_EACH(x / v)
    case PointwiseFunction::min:
      ENGINERY_EACH(smaller(v, x))
    case PointwiseFunction::max:
      ENGINERY_EACH(larger(v, x))
    case PointwiseFunction::prelu:
      ENGINERY_EACH(v < 0 ? x * v : v)
    case PointwiseFunction::pow:
      for (int64_t i = 0; i < n; ++i) values[i] = __builtin_powf(from[i], operand[i * stride]);
      return;
    case PointwiseFunction::reverse_pow:
      for (int64_t i = 0; i < n; ++i) values[i] = __builtin_powf(operand[i * stride], from[i]);
      return;
    default:
      return;
  }
}
#undef ENGINERY_EACH

// The usual strides as constants, so that their loops become vector code.
inline void combine(PointwiseFunction f, float* values, const float* from, const float* operand,
                    int64_t stride, int64_t n) {
  if (stride == 1)
    combine_with(f, values, from, operand, 1, n);
  else if (stride == 0)
    combine_with(f, values, from, operand, 0, n);
  else
    combine_with(f, values, from, operand, stride, n);
}

}  // namespace
}  // namespace enginery
