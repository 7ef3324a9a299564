// Depthwise convolution, channels last, with bias and clip. For each output row and vector of
// channels the weights stay in registers while the row is walked; every input element is read once
// a window from L1 or L2.
#include "engine/kernels/cpu/isa/depthwise.h"
#include "engine/kernels/cpu/isa/simd.h"

namespace enginery {
namespace {

struct Column {
  const float* in;       // the image, at this vector of channels
  const float* weights;  // at this vector of channels
  Vector bias;
  int64_t y_begin, y_end, y_origin;  // kernel rows inside the image
};

// One output pixel, any geometry.
inline Vector pixel_any(const DepthwiseArguments& a, const Column& c, int64_t ox) {
  Vector acc = c.bias;
  int64_t x_origin = ox * a.stride_w - a.pad_w;
  for (int64_t ky = c.y_begin; ky < c.y_end; ++ky) {
    const float* row = c.in + (c.y_origin + ky * a.dilation_h) * a.in_w * a.channels;
    for (int64_t kx = 0; kx < a.kernel_w; ++kx) {
      int64_t x = x_origin + kx * a.dilation_w;
      if (x < 0 || x >= a.in_w) continue;
      acc += load(row + x * a.channels) * load(c.weights + (ky * a.kernel_w + kx) * a.channels);
    }
  }
  return acc;
}

// Four output pixels side by side, whole windows inside the image, no dilation: each input pixel of
// a row is read once.
template <int kKernel, int kStride>
inline void pixels_inside(const DepthwiseArguments& a, const Column& c, int64_t ox, float* out) {
  constexpr int kPixels = 4, kReach = (kPixels - 1) * kStride + kKernel;
  Vector acc[kPixels];
  for (int i = 0; i < kPixels; ++i) acc[i] = c.bias;
  const float* row = c.in + (c.y_origin * a.in_w + ox * kStride - a.pad_w) * a.channels;
  const float* weights = c.weights;
  for (int ky = 0; ky < kKernel; ++ky) {
    Vector x[kReach];
    for (int i = 0; i < kReach; ++i) x[i] = load(row + i * a.channels);
    for (int kx = 0; kx < kKernel; ++kx, weights += a.channels) {
      Vector w = load(weights);
      for (int i = 0; i < kPixels; ++i) acc[i] += x[i * kStride + kx] * w;
    }
    row += a.in_w * a.channels;
  }
  for (int i = 0; i < kPixels; ++i) store(out + i * a.channels, clip(acc[i], a.low, a.high));
}

template <int kKernel, int kStride>
inline void row_inside(const DepthwiseArguments& a, const Column& c, int64_t begin, int64_t end,
                       float* out) {
  int64_t ox = begin;
  for (; ox + 4 <= end; ox += 4) pixels_inside<kKernel, kStride>(a, c, ox, out + ox * a.channels);
  for (; ox < end; ++ox) store(out + ox * a.channels, clip(pixel_any(a, c, ox), a.low, a.high));
}

// One output row for one vector of channels.
inline void row_of(const DepthwiseArguments& a, const Column& c, float* out) {
  int64_t reach = (a.kernel_w - 1) * a.dilation_w;
  int64_t begin = least(a.out_w, (a.pad_w + a.stride_w - 1) / a.stride_w);
  int64_t end = a.in_w + a.pad_w - reach - 1;
  end = end < 0 ? begin : most(begin, least(a.out_w, end / a.stride_w + 1));
  bool plain = c.y_begin == 0 && c.y_end == a.kernel_h && a.dilation_h == 1 && a.dilation_w == 1;
  int64_t kernel = plain && a.kernel_h == a.kernel_w ? a.kernel_w : 0;
  for (int64_t ox = 0; ox < begin; ++ox)
    store(out + ox * a.channels, clip(pixel_any(a, c, ox), a.low, a.high));
  if (kernel == 3 && a.stride_w == 1) {
    row_inside<3, 1>(a, c, begin, end, out);
  } else if (kernel == 3 && a.stride_w == 2) {
    row_inside<3, 2>(a, c, begin, end, out);
  } else if (kernel == 5 && a.stride_w == 1) {
    row_inside<5, 1>(a, c, begin, end, out);
  } else {
    for (int64_t ox = begin; ox < end; ++ox)
      store(out + ox * a.channels, clip(pixel_any(a, c, ox), a.low, a.high));
  }
  for (int64_t ox = end; ox < a.out_w; ++ox)
    store(out + ox * a.channels, clip(pixel_any(a, c, ox), a.low, a.high));
}

}  // namespace

void ENGINERY_KERNEL(depthwise)(const DepthwiseArguments& a) {
  int64_t rows = a.n * a.out_h, work = rows * a.out_w * a.channels * a.kernel_h * a.kernel_w;
#pragma omp parallel for schedule(static) if (work > 4 * kMinParallelWork)
  for (int64_t row = 0; row < rows; ++row) {
    Column c;
    c.y_origin = row % a.out_h * a.stride_h - a.pad_h;
    c.y_begin = c.y_origin < 0 ? (-c.y_origin + a.dilation_h - 1) / a.dilation_h : 0;
    c.y_end = c.y_origin >= a.in_h
                  ? 0
                  : least(a.kernel_h, (a.in_h - c.y_origin + a.dilation_h - 1) / a.dilation_h);
    for (int64_t next = 0; next < a.channels; next += kWidth) {
      int64_t channel =
          least(next, a.channels - kWidth);  // the last vector overlaps the one before
      c.in = a.in + row / a.out_h * a.in_h * a.in_w * a.channels + channel;
      c.weights = a.weights + channel;
      c.bias = a.bias ? load(a.bias + channel) : broadcast(0);
      row_of(a, c, a.out + row * a.out_w * a.channels + channel);
    }
  }
}

}  // namespace enginery
