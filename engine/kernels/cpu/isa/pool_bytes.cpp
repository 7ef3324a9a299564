// Max pooling of bytes, channels last. One output pixel at a time, a vector of channels at a time;
// reads each input byte once a window it lies in (from L1 after the first), writes each output
// once.
#include "engine/kernels/cpu/isa/pool_bytes.h"

#include "engine/kernels/cpu/isa/simd.h"
#include "engine/kernels/cpu/isa/windows.h"

namespace enginery {
namespace {

constexpr int kBytes = kWidth * 4;  // of a vector

template <typename T>
struct BytesOf;
template <>
struct BytesOf<int8_t> {
  typedef int8_t Vector __attribute__((vector_size(kBytes)));
  typedef int8_t Stored __attribute__((vector_size(kBytes), aligned(1), may_alias));
  static constexpr int8_t least = -128;
};
template <>
struct BytesOf<uint8_t> {
  typedef uint8_t Vector __attribute__((vector_size(kBytes)));
  typedef uint8_t Stored __attribute__((vector_size(kBytes), aligned(1), may_alias));
  static constexpr uint8_t least = 0;
};

// f(bytes of one input pixel) for every place of the window inside the image.
template <typename T, typename F>
inline void for_each_tap(const PoolBytesArguments& a, const T* image, const Span& y, const Span& x,
                         F&& f) {
  for (int64_t ky = y.begin; ky < y.end; ++ky) {
    const T* row = image + ((y.origin + ky * a.dilation_h) * a.in_w + x.origin) * a.channels;
    for (int64_t kx = x.begin; kx < x.end; ++kx) f(row + kx * a.dilation_w * a.channels);
  }
}

template <typename T>
inline void pool_vector(const PoolBytesArguments& a, const T* image, const Span& y, const Span& x,
                        T* out) {
  using Bytes = typename BytesOf<T>::Vector;
  using Stored = typename BytesOf<T>::Stored;
  Bytes largest = Bytes{} + BytesOf<T>::least;
  for_each_tap(a, image, y, x, [&](const T* p) {
    const Bytes value = *reinterpret_cast<const Stored*>(p);
    largest = largest > value ? largest : value;
  });
  *reinterpret_cast<Stored*>(out) = largest;
}

template <typename T>
inline void pool_pixel(const PoolBytesArguments& a, const T* image, const Span& y, const Span& x,
                       T* out) {
  int64_t c = 0;
  for (; c + kBytes <= a.channels; c += kBytes) pool_vector(a, image + c, y, x, out + c);
  if (c < a.channels && a.channels >= kBytes) {
    c = a.channels - kBytes;  // overlaps what is done already
    pool_vector(a, image + c, y, x, out + c);
    return;
  }
  for (; c < a.channels; ++c) {
    T largest = BytesOf<T>::least;
    for_each_tap(a, image + c, y, x, [&](const T* p) { largest = largest > *p ? largest : *p; });
    out[c] = largest;
  }
}

template <typename T>
void pool_all(const PoolBytesArguments& a) {
  const int64_t rows = a.n * a.out_h, work = rows * a.out_w * a.channels * a.kernel_h * a.kernel_w;
#pragma omp parallel for schedule(static) if (work > 16 * kMinParallelWork)
  for (int64_t row = 0; row < rows; ++row) {
    const T* image = static_cast<const T*>(a.in) + row / a.out_h * a.in_h * a.in_w * a.channels;
    const Span y = span_of(row % a.out_h, a.stride_h, a.pad_h, a.dilation_h, a.kernel_h, a.in_h);
    T* out = static_cast<T*>(a.out) + row * a.out_w * a.channels;
    for (int64_t ox = 0; ox < a.out_w; ++ox, out += a.channels)
      pool_pixel(a, image, y, span_of(ox, a.stride_w, a.pad_w, a.dilation_w, a.kernel_w, a.in_w),
                 out);
  }
}

}  // namespace

void ENGINERY_KERNEL(pool_bytes)(const PoolBytesArguments& a) {
  if (a.is_signed)
    pool_all<int8_t>(a);
  else
    pool_all<uint8_t>(a);
}

}  // namespace enginery
