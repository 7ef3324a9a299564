// Convolutions of pictures with the max pooling behind them.
//
// Filled by engine/tactics/cpu/kernel/pooled_conv.cpp, which knows the problem; the kernel checks
// nothing.
#pragma once

#include <cstdint>

namespace enginery {

// out = the largest of each window of c, where c[y, x, n] = clip(bias[n] + sum over channels and
// taps of in * weights) with zeros outside of the picture. Every window has a place inside of c.
// Each thread of the team has `scratch_floats` of `scratch` for itself.
struct PooledConvArguments {
  const float *in, *weights, *bias;  // weights [panel][channels_in][tap][2 * width], bias padded
                                     // alike
  float *out, *scratch;
  int64_t images, channels_in, channels_out;
  int64_t in_h, in_w, conv_h, conv_w, out_h, out_w;
  int64_t kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w;  // of the convolution
  int64_t pool_h, pool_w, pool_stride_h, pool_stride_w, pool_pad_h, pool_pad_w;
  int64_t in_image, in_channel, in_row, in_pixel;  // floats between them
  int64_t out_image, out_pixel, out_vector;        // likewise; vectors of output channels
  int64_t scratch_floats;
  float low, high;
};

// Columns of a row of c as windows see it, and of a row of the picture as taps do: padding
// included.
inline int64_t pooled_columns(const PooledConvArguments& a) {
  const int64_t seen = (a.out_w - 1) * a.pool_stride_w + a.pool_w, own = a.pool_pad_w + a.conv_w;
  return seen > own ? seen : own;
}
inline int64_t picture_columns(const PooledConvArguments& a) {
  return (a.conv_w - 1) * a.stride_w + a.kernel_w;
}

}  // namespace enginery
