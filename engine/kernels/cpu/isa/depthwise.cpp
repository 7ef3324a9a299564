// Depthwise convolution, channels-last, with bias and clip. For each output row and vector of
// channels the weights stay in registers while the row is walked; every input element is read once
// a window from L1 or L2. Steps take the row when it is whole, from there.
#include "engine/kernels/cpu/isa/depthwise.h"
#include "engine/kernels/cpu/isa/pointwise_steps.h"

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

// Four output pixels side by side, no dilation: each input pixel of a row is read once. At an edge
// of the image, what lies outside is zero.
template <int kKernel, int kStride, bool kAtEdge>
inline void four_pixels(const DepthwiseArguments& a, const Column& c, int64_t ox, float* out) {
  constexpr int kPixels = 4, kReach = (kPixels - 1) * kStride + kKernel;
  Vector acc[kPixels];
  for (int i = 0; i < kPixels; ++i) acc[i] = c.bias;
  const int64_t first = ox * kStride - a.pad_w;
  const int64_t begin = kAtEdge ? c.y_begin : 0, end = kAtEdge ? c.y_end : kKernel;
  for (int64_t ky = begin; ky < end; ++ky) {
    const float* row = c.in + ((c.y_origin + ky) * a.in_w + first) * a.channels;
    const float* weights = c.weights + ky * kKernel * a.channels;
    Vector x[kReach];
    for (int i = 0; i < kReach; ++i) {
      const bool inside = !kAtEdge || (first + i >= 0 && first + i < a.in_w);
      x[i] = inside ? load(row + i * a.channels) : Vector{};
    }
    for (int kx = 0; kx < kKernel; ++kx, weights += a.channels) {
      const Vector w = load(weights);
      for (int i = 0; i < kPixels; ++i) acc[i] += x[i * kStride + kx] * w;
    }
  }
  for (int i = 0; i < kPixels; ++i) store(out + i * a.channels, clip(acc[i], a.low, a.high));
}

// A row of four pixels or more; the last four overlap those before them.
template <int kKernel, int kStride>
inline void row_of_fours(const DepthwiseArguments& a, const Column& c, float* out) {
  constexpr int64_t kReach = 3 * kStride + kKernel;
  const bool whole = c.y_begin == 0 && c.y_end == kKernel;
  for (int64_t next = 0; next < a.out_w; next += 4) {
    const int64_t ox = least(next, a.out_w - 4), first = ox * kStride - a.pad_w;
    if (whole && first >= 0 && first + kReach <= a.in_w)
      four_pixels<kKernel, kStride, false>(a, c, ox, out + ox * a.channels);
    else
      four_pixels<kKernel, kStride, true>(a, c, ox, out + ox * a.channels);
  }
}

// One output row for one vector of channels.
inline void row_of(const DepthwiseArguments& a, const Column& c, float* out) {
  const bool plain =
      a.kernel_h == a.kernel_w && a.dilation_h == 1 && a.dilation_w == 1 && a.out_w >= 4;
  const auto is = [&](int64_t kernel, int64_t stride) {
    return plain && a.kernel_w == kernel && a.stride_w == stride;
  };
  if (is(3, 1)) return row_of_fours<3, 1>(a, c, out);
  if (is(3, 2)) return row_of_fours<3, 2>(a, c, out);
  if (is(5, 1)) return row_of_fours<5, 1>(a, c, out);
  if (is(5, 2)) return row_of_fours<5, 2>(a, c, out);
  if (is(7, 1)) return row_of_fours<7, 1>(a, c, out);
  for (int64_t ox = 0; ox < a.out_w; ++ox)
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
    float* const out = a.out + row * a.out_w * a.channels;
    for (int s = 0; s < a.steps; ++s) apply(a.step[s], out, out, a.out_w * a.channels);
  }
}

}  // namespace enginery
