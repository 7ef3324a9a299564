// float32 rounded to bfloat16, to the nearest, ties to even.
#pragma once

#include "engine/kernels/cpu/isa/simd.h"

#ifdef __AVX512BF16__
#include <immintrin.h>
#endif

namespace enginery {
namespace {

inline uint32_t bits_of(float v) {
  return __builtin_bit_cast(uint32_t, v);
}
inline float float_of(uint32_t bits) {
  return __builtin_bit_cast(float, bits);
}

inline uint16_t float_to_bfloat16(float v) {
  const uint32_t bits = bits_of(v), rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
  return static_cast<uint16_t>(is_nan ? (bits >> 16) | 0x40u : rounded);
}

// n values that lie side by side. The CPU's own instruction takes subnormal numbers for zeros.
inline void round_to_bfloat16(const float* __restrict from, int64_t n, uint16_t* __restrict to) {
  int64_t i = 0;
#ifdef __AVX512BF16__
  for (; i + 32 <= n; i += 32) {
    const __m512bh values =
        _mm512_cvtne2ps_pbh(_mm512_loadu_ps(from + i + 16), _mm512_loadu_ps(from + i));
    __builtin_memcpy(to + i, &values, sizeof values);
  }
#endif
  for (; i < n; ++i) to[i] = float_to_bfloat16(from[i]);
}

}  // namespace
}  // namespace enginery
