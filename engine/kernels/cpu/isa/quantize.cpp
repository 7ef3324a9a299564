// To small integers and back: rows of one scale by vector code; where each element has its own, the
// scales are read beside it.
#include "engine/kernels/cpu/isa/quantize.h"

#include "engine/kernels/cpu/isa/simd.h"

namespace enginery {
namespace {

template <typename T>
struct Range;
template <>
struct Range<int8_t> {
  static constexpr float low = -128, high = 127;
};
template <>
struct Range<uint8_t> {
  static constexpr float low = 0, high = 255;
};
template <>
struct Range<int16_t> {
  static constexpr float low = -32768, high = 32767;
};
template <>
struct Range<uint16_t> {
  static constexpr float low = 0, high = 65535;
};

template <typename T>
inline void transform(float in, T& out, float scale, float zero) {
  float q = __builtin_nearbyintf(in / scale) + zero;
  q = q != q ? 0.0f : q;
  q = q < Range<T>::low ? Range<T>::low : q;
  q = q > Range<T>::high ? Range<T>::high : q;
  out = static_cast<T>(static_cast<int32_t>(q));
}
template <typename T>
inline void transform(T in, float& out, float scale, float zero) {
  out = (static_cast<float>(in) - zero) * scale;
}

// kEach: 1 where each element has its own scale, 0 where all have the first.
template <int kEach, typename In, typename Out>
void transform_row(const In* __restrict in, Out* __restrict out, const float* __restrict scale,
                   const float* __restrict zero, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) transform(in[i], out[i], scale[kEach * i], zero[kEach * i]);
}

template <typename In, typename Out>
void transform_all(const QuantizeArguments& a) {
  constexpr int64_t kPiece = 4096;
  const bool each = a.inner == 1;
  const int64_t length = each ? a.size : a.inner, rows = each ? a.outer : a.outer * a.size,
                pieces = (length + kPiece - 1) / kPiece;
#pragma omp parallel for schedule(static) if (rows * length > kMinParallelWork)
  for (int64_t task = 0; task < rows * pieces; ++task) {
    const int64_t row = task / pieces, begin = task % pieces * kPiece,
                  n = least(kPiece, length - begin);
    const In* in = static_cast<const In*>(a.in) + row * length + begin;
    Out* out = static_cast<Out*>(a.out) + row * length + begin;
    if (each)
      transform_row<1>(in, out, a.scale + begin, a.zero + begin, n);
    else
      transform_row<0>(in, out, a.scale + row % a.size, a.zero + row % a.size, n);
  }
}

template <typename T>
void transform_between(const QuantizeArguments& a) {
  if (a.to_integers) return transform_all<float, T>(a);
  transform_all<T, float>(a);
}

}  // namespace

void ENGINERY_KERNEL(quantize)(const QuantizeArguments& a) {
  switch (a.integers) {
    case SmallInteger::int8:
      return transform_between<int8_t>(a);
    case SmallInteger::uint8:
      return transform_between<uint8_t>(a);
    case SmallInteger::int16:
      return transform_between<int16_t>(a);
    case SmallInteger::uint16:
      return transform_between<uint16_t>(a);
  }
}

}  // namespace enginery
