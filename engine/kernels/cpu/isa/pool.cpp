// Pooling, channels last. One output pixel at a time, a vector of channels at a time; reads each
// input element once a window it lies in (from L1 after the first), writes each output once.
#include "engine/kernels/cpu/isa/pool.h"
#include "engine/kernels/cpu/isa/bfloat16.h"
#include "engine/kernels/cpu/isa/windows.h"

namespace enginery {
namespace {

template <bool kAverage, int kVectors, typename T>
inline void pool_block(const PoolArguments& a, const T* image, const Span& y, const Span& x,
                       float factor, T* out) {
  Vector acc[kVectors];
  for (int v = 0; v < kVectors; ++v) acc[v] = broadcast(kAverage ? 0.0f : -__builtin_inff());
  for (int64_t ky = y.begin; ky < y.end; ++ky) {
    const T* row = image + ((y.origin + ky * a.dilation_h) * a.in_w + x.origin) * a.in_pixel;
    for (int64_t kx = x.begin; kx < x.end; ++kx) {
      const T* p = row + kx * a.dilation_w * a.in_pixel;
      for (int v = 0; v < kVectors; ++v) {
        Vector value = load(p + v * kWidth);
        acc[v] = kAverage ? acc[v] + value : larger(acc[v], value);
      }
    }
  }
  for (int v = 0; v < kVectors; ++v) {
    store(out + v * kWidth, clip(kAverage ? acc[v] * factor : acc[v], a.low, a.high));
  }
}

template <bool kAverage, typename T>
void pool_scalar(const PoolArguments& a, const T* image, const Span& y, const Span& x, float factor,
                 T* out) {
  float acc = kAverage ? 0.0f : -__builtin_inff();
  for (int64_t ky = y.begin; ky < y.end; ++ky) {
    for (int64_t kx = x.begin; kx < x.end; ++kx) {
      const int64_t pixel = (y.origin + ky * a.dilation_h) * a.in_w + x.origin + kx * a.dilation_w;
      const float value = value_of(image[pixel * a.in_pixel]);
      acc = kAverage ? acc + value : larger(acc, value);
    }
  }
  if (kAverage) acc *= factor;
  set_value(out, clip(acc, a.low, a.high));
}

template <bool kAverage, typename T>
void pool_pixel(const PoolArguments& a, const T* image, const Span& y, const Span& x, T* out) {
  float factor = 1;
  if (kAverage) {
    int64_t n = counted(y, a.kernel_h, a.dilation_h, a.in_h, a.pad_end_h, a.count_padding) *
                counted(x, a.kernel_w, a.dilation_w, a.in_w, a.pad_end_w, a.count_padding);
    factor = 1.0f / static_cast<float>(most(n, 1));
  }
  int64_t c = 0;
  for (; c + 4 * kWidth <= a.channels; c += 4 * kWidth)
    pool_block<kAverage, 4>(a, image + c, y, x, factor, out + c);
  for (; c + kWidth <= a.channels; c += kWidth)
    pool_block<kAverage, 1>(a, image + c, y, x, factor, out + c);
  if (c < a.channels && a.channels >= kWidth) {
    c = a.channels - kWidth;  // overlaps what is done already
    pool_block<kAverage, 1>(a, image + c, y, x, factor, out + c);
    return;
  }
  for (; c < a.channels; ++c) pool_scalar<kAverage>(a, image + c, y, x, factor, out + c);
}

template <typename T>
void pool_image(const PoolArguments& a) {
  int64_t rows = a.n * a.out_h, work = rows * a.out_w * a.channels * a.kernel_h * a.kernel_w;
#pragma omp parallel for schedule(static) if (work > 4 * kMinParallelWork)
  for (int64_t row = 0; row < rows; ++row) {
    const T* image = static_cast<const T*>(a.in) + row / a.out_h * a.in_h * a.in_w * a.in_pixel;
    Span y = span_of(row % a.out_h, a.stride_h, a.pad_h, a.dilation_h, a.kernel_h, a.in_h);
    T* out = static_cast<T*>(a.out) + row * a.out_w * a.out_pixel;
    for (int64_t ox = 0; ox < a.out_w; ++ox, out += a.out_pixel) {
      Span x = span_of(ox, a.stride_w, a.pad_w, a.dilation_w, a.kernel_w, a.in_w);
      if (a.average)
        pool_pixel<true>(a, image, y, x, out);
      else
        pool_pixel<false>(a, image, y, x, out);
    }
  }
}

}  // namespace

void ENGINERY_KERNEL(pool)(const PoolArguments& a) {
  if (a.narrow)
    pool_image<uint16_t>(a);
  else
    pool_image<float>(a);
}

}  // namespace enginery
