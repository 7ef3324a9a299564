// One pass over bytes: to float32, scaled (and added), rounded, back. Numbers of int8 are taken as
// uint8 that are 128 larger, so that one loop serves both.
#include "engine/kernels/cpu/isa/requantize.h"

#include "engine/kernels/cpu/isa/simd.h"

namespace enginery {
namespace {

// Bytes and what turns them into steps of the result.
struct Operand {
  const uint8_t* data;
  float factor, zero;
  uint8_t flip;
};

inline Operand operand_of(const ScaledBytes& s, int64_t begin) {
  return {static_cast<const uint8_t*>(s.data) + begin, s.factor,
          s.is_signed ? s.zero + 128 : s.zero, static_cast<uint8_t>(s.is_signed ? 0x80 : 0)};
}

inline float steps(const Operand& x, int64_t i) {
  return (static_cast<float>(static_cast<uint8_t>(x.data[i] ^ x.flip)) - x.zero) * x.factor;
}

template <bool kSum>
void requantize_piece(const Operand a, const Operand b, uint8_t* out, int64_t n, float zero,
                      float low, float high, uint8_t flip) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    float q = steps(a, i);
    if (kSum) q += steps(b, i);
    q = __builtin_nearbyintf(q) + zero;
    q = q < low ? low : q;
    q = q > high ? high : q;
    out[i] = static_cast<uint8_t>(static_cast<uint8_t>(static_cast<int32_t>(q)) ^ flip);
  }
}

// Of one pixel's channels, or with kInner of one channel's pixels.
template <bool kInner>
inline void normalize_piece(const Operand a, const float* factors, const float* shifts,
                            uint8_t* out, int64_t n, const RequantizeArguments& r) {
  const float up = r.is_signed ? 128.0f : 0.0f;
  const float zero = r.zero + up, low = r.low + up, high = r.high + up;
  const auto flip = static_cast<uint8_t>(r.is_signed ? 0x80 : 0);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const int64_t c = kInner ? 0 : i;
    float q = (static_cast<float>(static_cast<uint8_t>(a.data[i] ^ a.flip)) - a.zero) * factors[c];
    q = __builtin_nearbyintf(q + shifts[c]) + zero;
    q = q < low ? low : q;
    q = q > high ? high : q;
    out[i] = static_cast<uint8_t>(static_cast<uint8_t>(static_cast<int32_t>(q)) ^ flip);
  }
}

void normalize(const RequantizeArguments& r) {
  const int64_t piece = r.inner == 1 ? r.channels : r.inner;
#pragma omp parallel for schedule(static) if (r.count > 4 * kMinParallelWork)
  for (int64_t begin = 0; begin < r.count; begin += piece) {
    const Operand a = operand_of(r.a, begin);
    uint8_t* out = static_cast<uint8_t*>(r.out) + begin;
    const int64_t c = r.inner == 1 ? 0 : begin / r.inner % r.channels;
    if (r.inner == 1)
      normalize_piece<false>(a, r.factors, r.shifts, out, piece, r);
    else
      normalize_piece<true>(a, r.factors + c, r.shifts + c, out, piece, r);
  }
}

}  // namespace

void ENGINERY_KERNEL(requantize)(const RequantizeArguments& r) {
  if (r.factors) return normalize(r);
  constexpr int64_t kPiece = 16384;
  const float up = r.is_signed ? 128.0f : 0.0f;
  const auto flip = static_cast<uint8_t>(r.is_signed ? 0x80 : 0);
#pragma omp parallel for schedule(static) if (r.count > 4 * kMinParallelWork)
  for (int64_t begin = 0; begin < r.count; begin += kPiece) {
    const int64_t n = least(kPiece, r.count - begin);
    uint8_t* out = static_cast<uint8_t*>(r.out) + begin;
    const Operand a = operand_of(r.a, begin);
    if (r.b.data)
      requantize_piece<true>(a, operand_of(r.b, begin), out, n, r.zero + up, r.low + up,
                             r.high + up, flip);
    else
      requantize_piece<false>(a, a, out, n, r.zero + up, r.low + up, r.high + up, flip);
  }
}

}  // namespace enginery
