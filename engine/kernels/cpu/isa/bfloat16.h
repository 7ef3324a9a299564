// float32 rounded to bfloat16, to the nearest, ties to even, and bfloat16 as float32.
#pragma once

#include "engine/kernels/cpu/isa/simd.h"

#ifdef __AVX512F__
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

inline float value_of(uint16_t v) {
  return float_of(static_cast<uint32_t>(v) << 16);
}

// n values that lie side by side.
inline void widen_bfloat16(const uint16_t* __restrict from, int64_t n, float* __restrict to) {
  for (int64_t i = 0; i < n; ++i) to[i] = value_of(from[i]);
}

typedef uint32_t Bits __attribute__((vector_size(kWidth * 4)));
typedef uint16_t NarrowVector __attribute__((vector_size(kWidth * 2)));

// GCC 12 turns __builtin_convertvector into scalar conversions here, hence the intrinsics. Their
// masked forms avoid its false warning of uninitialised values in the others.
inline Bits widen(NarrowVector v) {
#ifdef __AVX512F__
  return (Bits)_mm512_maskz_cvtepu16_epi32(0xffff, (__m256i)v);
#else
  return __builtin_convertvector(v, Bits);
#endif
}
inline NarrowVector low_halves(Bits v) {
#ifdef __AVX512F__
  return (NarrowVector)_mm512_maskz_cvtepi32_epi16(0xffff, (__m512i)v);
#else
  return __builtin_convertvector(v, NarrowVector);
#endif
}

// A vector of floats, of bfloat16 values in memory.
inline Vector load(const uint16_t* p) {
  NarrowVector narrow;
  __builtin_memcpy(&narrow, p, sizeof narrow);
  return (Vector)(widen(narrow) << 16);
}
inline void store(uint16_t* p, Vector v) {
  const Bits bits = (Bits)v, rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const NarrowVector narrow = low_halves(v != v ? (bits >> 16) | 0x40u : rounded);
  __builtin_memcpy(p, &narrow, sizeof narrow);
}

inline float value_of(float v) {
  return v;
}
inline void set_value(float* to, float v) {
  *to = v;
}
inline void set_value(uint16_t* to, float v) {
  *to = float_to_bfloat16(v);
}

}  // namespace
}  // namespace enginery
