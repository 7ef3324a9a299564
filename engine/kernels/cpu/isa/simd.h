// Vectors of floats as wide as the instruction set that this file is compiled for (ENGINERY_ISA),
// in GCC's vector extension. Everything here has internal linkage: see kernels.h.
#pragma once

#include "engine/kernels/cpu/kernels.h"

#define ENGINERY_JOIN_(a, b) a##_##b
#define ENGINERY_JOIN(a, b) ENGINERY_JOIN_(a, b)
// The name of a kernel for this instruction set: ENGINERY_KERNEL(pool) is pool_avx2.
#define ENGINERY_KERNEL(name) ENGINERY_JOIN(name, ENGINERY_ISA)

namespace enginery {
namespace {

#if defined(__AVX512F__)
constexpr int kWidth = 16;
#elif defined(__AVX__)
constexpr int kWidth = 8;
#else
constexpr int kWidth = 4;
#endif

typedef float Vector __attribute__((vector_size(kWidth * 4)));
typedef float UnalignedVector __attribute__((vector_size(kWidth * 4), aligned(4), may_alias));
typedef int32_t Mask __attribute__((vector_size(kWidth * 4)));

inline Vector load(const float* p) {
  return *reinterpret_cast<const UnalignedVector*>(p);
}
inline void store(float* p, Vector v) {
  *reinterpret_cast<UnalignedVector*>(p) = v;
}
inline Vector broadcast(float x) {
  return x - Vector{};
}

// The first `lanes` of a vector's floats; zeros for the others. All of them from kWidth on.
inline Vector load_lanes(const float* p, int64_t lanes) {
  if (lanes >= kWidth) return load(p);
  float values[kWidth] = {};
  for (int64_t i = 0; i < lanes; ++i) values[i] = p[i];
  return load(values);
}

// The first `lanes` of `v`; none where it is not positive.
inline void store_lanes(float* p, Vector v, int64_t lanes) {
  if (lanes >= kWidth) return store(p, v);
  float values[kWidth];
  store(values, v);
  for (int64_t i = 0; i < lanes; ++i) p[i] = values[i];
}

// The larger, or the one that is NaN. The type decides: a float or a Vector.
inline float larger(float a, float b) {
  return a > b || a != a ? a : b;
}
inline Vector larger(Vector a, Vector b) {
  return (a > b) | (a != a) ? a : b;
}
inline float smaller(float a, float b) {
  return a < b || a != a ? a : b;
}
// Written so that NaN stays: no comparison with it holds, and v is what is left.
inline float clip(float v, float low, float high) {
  v = low > v ? low : v;
  return high < v ? high : v;
}
inline Vector clip(Vector v, float low, float high) {
  v = broadcast(low) > v ? broadcast(low) : v;
  return broadcast(high) < v ? broadcast(high) : v;
}

inline int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}
inline int64_t most(int64_t a, int64_t b) {
  return a > b ? a : b;
}

// 1.5 * 2^23: adding it rounds a float to an integer, which its low bits then hold.
constexpr float kRoundsToInteger = 12582912.0f;

// e^x / 2^n, n the integer next to x / log(2). (Cephes expf)
inline float exp_without_scale(float x, float n) {
  const float r = x - n * 0.693359375f + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  return p * r * r + r + 1.0f;
}

// e^x to 2 units in the last place within [-87.3, 88.72], at its ends beyond.
inline float fast_exp(float x) {
  x = x < -87.3f ? -87.3f : x;
  x = x > 88.72f ? 88.72f : x;
  const float n = (x * 1.44269504f + kRoundsToInteger) - kRoundsToInteger;
  const float p = exp_without_scale(x, n);
  // In two factors: 2^128 alone is not a float.
  int32_t half = static_cast<int32_t>(n) >> 1, rest = static_cast<int32_t>(n) - half;
  return p * __builtin_bit_cast(float, (half + 127) << 23) *
         __builtin_bit_cast(float, (rest + 127) << 23);
}

// e^x of x <= 0 to 2 units in the last place, 0 below -86.6: what softmax makes of -infinity. One
// scaling, by adding n to the exponent.
inline float fast_exp_or_zero(float x) {
  const float shifted = x * 1.44269504f + kRoundsToInteger;
  const float p = exp_without_scale(x, shifted - kRoundsToInteger);
  const uint32_t exponent = __builtin_bit_cast(uint32_t, shifted) << 23;
  const float scaled = __builtin_bit_cast(float, __builtin_bit_cast(uint32_t, p) + exponent);
  return x < -86.6f ? 0.0f : scaled;
}

// Work below this many element operations is not worth waking other threads for.
constexpr int64_t kMinParallelWork = 16384;

}  // namespace
}  // namespace enginery
