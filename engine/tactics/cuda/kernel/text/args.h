// Arguments that several kernels share, read by the host (namespace enginery::gpu) and by the
// kernels' text. Plain data.
//
// Where: a plan fills them in; pointers are written at launch (KernelLaunch::slots). A family's own
// are in its args.h. Engine files hold compiled code that reads these structs: a field is never
// moved, renamed ones keep their place.
#pragma once

#ifndef ENGINERY_KERNEL_TEXT
namespace enginery::gpu {
#endif

// x / divisor = umulhi(x, multiplier) >> shift for x < 2^31; divisor 1 apart.
struct Divisor {
  unsigned multiplier, shift, divisor;
};

// What epilogues read beside the anchor's result.
struct EpilogueArgs {
  const void* operand[6];
};

// Implicit GEMM: Y[m, k] = sum over (r, s, c) of X[pixel(m, r, s), c] * W[k, (c-chunk, r, s, c)].
struct ConvArgs {
  const void* x;
  const void* w;
  void* y;
  float* partial_sums;  // split-K over two launches: [part][m][tiles_k * BN]
  EpilogueArgs epilogue;
  int h, width, c;  // input; c: channels with their padding
  int r, s;         // filter
  int m, k, ldy;    // outputs: pixels, channels, channels with their padding
  int stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w;
  int steps, split_k;  // steps of BK along K; parts that they are divided into, 1: not divided
  int tiles_k;         // tiles along k
  int w_pitch;         // elements between rows of w
  int groups, group_c, group_k;  // direct kernel only
  Divisor by_q, by_p, by_tiles_k, by_pixels, by_c, by_s;
  int y_pitch;  // PITCHED: channels from one output pixel to the next
  int x_pitch;  // READS_PITCHED: elements from one input pixel to the next
};

// Depthwise convolution and pooling, NHWC.
struct WindowArgs {
  const void* x;
  const float* w;  // depthwise: [r][s][c]
  void* y;
  EpilogueArgs epilogue;
  int n, h, width, c, p, q;  // c: channels with their padding
  int channels;              // without
  int r, s, stride_h, stride_w, pad_h, pad_w, pad_h_end, pad_w_end, dilation_h, dilation_w;
  int strips;  // strips of outputs along a row
  int total;   // threads with work
  Divisor by_vectors, by_strips, by_p;
  float* sums;           // pooling over images in parts: [n][part][c]
  int x_pitch, y_pitch;  // pooling over windows: elements from one pixel to the next
};

#ifndef ENGINERY_KERNEL_TEXT
}  // namespace enginery::gpu
#endif
