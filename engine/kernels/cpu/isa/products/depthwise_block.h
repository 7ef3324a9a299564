// A depthwise convolution between two 1x1 convolutions, or behind none, as one pass.
//
// Filled by engine/tactics/cpu/kernel/depthwise_block.cpp, which knows the problem; the kernel
// checks nothing.
#pragma once

#include <cstdint>

namespace enginery {

// The constants of one of the convolutions, and the clip behind it.
struct BlockWeights {
  // 1x1: [panel][depth][2 * width] and [panel][2 * width]; depthwise: [tap][channels] and
  // [channels], channels filled up to whole vectors. Null: there is no such convolution.
  const float *weights, *bias;
  float low, high;  // infinite: no bound
};

// e[p, c] = clip(bias[c] + sum over k of in[p, k] * expand[k, c]), or in[p, c] without `expand`;
// d[y, x, c] = clip(bias[c] + sum over (r, s) of e[y * stride_h + r - pad_h, ..., c] * taps[r, s,
// c]), zeros outside of the image; out[p, n] = clip(bias[n] + residual[p, n] + sum over c of d[p,
// c] * project[c, n]). `residual` may be `out` itself, nothing else may overlap: `in` is read again
// while `out` is written. Each thread of the team has `scratch_floats` of `scratch` for itself, in
// which some rows of e and of d stay.
struct DepthwiseBlockArguments {
  const float *in, *residual;  // residual: placed as out, or null
  float *out, *scratch;
  BlockWeights expand, taps, project;
  int64_t images, channels_in, channels, channels_out;  // channels: of e and d
  int64_t in_image, in_pixel, in_chunk;      // floats between images, pixels, vectors of channels
  int64_t out_image, out_pixel, out_vector;  // likewise of out
  int64_t in_h, in_w, out_h, out_w;
  int64_t kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w;
  int64_t rows;  // of the output at a time
  // window rows of e, `rows` rows of d and the window rows' input, all channels as whole vectors
  int64_t scratch_floats;
};
}  // namespace enginery
