// Depthwise convolution, channels-last.
//
// Filled by engine/tactics/cpu/kernel/depthwise.cpp, which knows the problem; the kernel checks
// nothing.
#pragma once

#include "engine/kernels/cpu/isa/pointwise.h"

namespace enginery {

// Depthwise convolution of `n` channels-last images, then a clip and steps: out[y, x, c] =
// clip(bias[c] + sum over (r, s) of in[y * stride_h + r * dilation_h - pad_h, ..., c] * weights[r,
// s, c]), taps outside of the image left out. Needs channels >= the table's width: the last vector
// overlaps the one before it, so `in` and `out` are different storages.
struct DepthwiseArguments {
  // Weights [kernel_h, kernel_w, channels]; bias [channels] or null.
  const float *in, *weights, *bias;
  float* out;
  int64_t n, channels, in_h, in_w, out_h, out_w;
  int64_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w;
  int64_t pad_h, pad_w;  // before the image; what follows it comes out of the output's size
  float low, high;       // bounds of the clip; infinite: none
  int steps;             // what follows, without operands
  PointwiseStep step[kMaxPointwiseSteps];
};

}  // namespace enginery
