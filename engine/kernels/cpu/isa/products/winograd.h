// 3x3 convolutions by Winograd's minimal filtering.
//
// Filled by engine/tactics/cpu/kernel/winograd.cpp, which knows the problem; the kernel checks
// nothing.
#pragma once

#include "engine/kernels/cpu/isa/pointwise.h"

namespace enginery {

// The interpolation points of F(4 x 4, 3 x 3): 0, +-near, +-far and infinity. These halve the
// rounding error of the usual 1 and 2 (root of the mean square over that of the direct sum: 4.3
// against 8.4 for 64 channels), and every constant of the transforms is exact in float32.
// F(2 x 2, 3 x 3) has 0, +-1 and infinity. (A. Lavin, S. Gray, "Fast algorithms for convolutional
// neural networks", CVPR 2016; B. Barabasz et al., "Error analysis and improving the accuracy of
// Winograd convolution for deep neural networks", ACM TOMS 46, 2020.)
constexpr float kWinogradNear = 0.625f, kWinogradFar = 1.5f;

// 3x3 convolution of stride 1: out[y, x, n] = clip(bias[n] + residual[y, x, n] + sum over (r, s, c)
// of in[y + r - pad_h, x + s - pad_w, c] * w[r, s, c, n]), then steps; taps outside of the image
// are left out.
//
// Computed as F(tile x tile, 3 x 3): (tile + 2)^2 points, a product of tiles and channels each. The
// weights come transformed.
struct WinogradArguments {
  const float *in, *weights, *bias, *residual;  // weights [panel][point][channels_in][2 * width],
                                                // bias padded alike; residual may be null
  float *out, *scratch;  // `residual` may be `out` itself, nothing else may overlap
  int64_t images, channels_in, channels_out, in_h, in_w, out_h, out_w, pad_h, pad_w;
  int64_t in_image, in_row, in_pixel, in_chunk;       // floats between images, rows, pixels,
                                                      // vectors of channels of one pixel
  int64_t out_image, out_row, out_pixel, out_vector;  // likewise; the residual lies as the output
  int64_t tile;                                       // output pixels of a tile's side: 2 or 4
  int64_t block_tiles;                                // tiles at a time
  int64_t transformed_floats, product_floats;         // scratch of one thread, in two parts: see
                                                      // winograd_scratch
  float low, high;                                    // bounds of the clip; infinite: none
  int steps;                                          // what follows, without operands
  PointwiseStep step[kMaxPointwiseSteps];
};

namespace {

// Floats that a block of tiles needs: transformed input [point][chunk][tile][width] and products of
// one panel [point][tile][2 * width]. A cache line between points: distances that are a power of
// two would make all points fight for one set. Internal linkage: see kernels.h.
struct WinogradScratch {
  int64_t transformed_point, transformed, product_point, product;
};
constexpr WinogradScratch winograd_scratch(int64_t tile, int64_t block_tiles, int64_t channels_in,
                                           int64_t width) {
  constexpr int64_t kLineFloats = 16;
  const int64_t points = (tile + 2) * (tile + 2), chunks = (channels_in + width - 1) / width;
  WinogradScratch s{};
  s.transformed_point = chunks * block_tiles * width + kLineFloats;
  s.product_point = block_tiles * 2 * width + kLineFloats;
  s.transformed = points * s.transformed_point;
  s.product = points * s.product_point;
  return s;
}

}  // namespace

}  // namespace enginery
