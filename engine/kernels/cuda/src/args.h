// Arguments of the kernels, shared by the host's code (namespace enginery::gpu) and the kernels'
// text. Plain data; every pointer is filled in at launch (KernelPlan::slots).
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
  float* partial;  // split over launches: [slice][m][k]
  EpilogueArgs epilogue;
  int h, width, c;  // input; c: channels with their padding
  int r, s;         // filter
  int m, k, ldy;    // outputs: pixels, channels, channels with their padding
  int stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w;
  int steps, slices;             // steps of BK along K; slices of them
  int tiles_k;                   // tiles along k
  int w_pitch;                   // elements between rows of w
  int groups, group_c, group_k;  // direct kernel only
  Divisor by_q, by_p, by_tiles_k, by_pixels, by_c, by_s;
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
};

// Matrix times few vectors: y[m, k] = sum over c of x[m, c] * w[k, c].
struct GemvArgs {
  const void* x;
  const void* w;
  void* y;
  EpilogueArgs epilogue;
  int m, k, c, ldx, ldy;
};

// Rows of `size` elements, `inner` apart, for softmax and reductions.
struct RowsArgs {
  const void* x;
  void* y;
  int outer, size, inner;
};

// Element-wise over a flat range of storage, ldy channels a pixel.
struct PointwiseArgs {
  EpilogueArgs operands;
  void* y;
  EpilogueArgs epilogue;
  int total, ldy;
  Divisor by_ldy, by_pixels;
};

// out[out_base + index * out_strides] = in[in_base + index * in_strides] over up to 6 dimensions,
// innermost last.
struct CopyArgs {
  const void* x;
  void* y;
  long long in_base, out_base;
  long long in_stride[6], out_stride[6];
  Divisor by[6];
  int total;
};

// y[o] = reduction over i < reduced of x[kept_place(o) + reduced_place(i)]; both places are
// generated.
struct ReduceArgs {
  const void* x;
  void* y;
  EpilogueArgs epilogue;
  unsigned outputs, reduced;
  int ldy;  // the output's last dimension
};

// y[batch][m, n] = alpha * sum over k of a[a_place(batch) + m * am + k * ak] * b[b_place(batch) + k
// * bk + n * bn].
struct ProductArgs {
  const void* a;
  const void* b;
  void* y;
  EpilogueArgs epilogue;
  int m, n, k;
  int tiles_m, tiles_n;
  int am, ak, bk, bn;
  float alpha;
};

// y[o][i][j] = data[o][indices[i]][j]; units of one size.
struct GatherArgs {
  const void* data;
  const void* indices;
  void* y;
  int total, size;
  Divisor by_inner, by_count;
};

// What an index of a sampled dimension reads: elements from the start of the dimension, and its
// weight.
struct SampleTap {
  int at;
  float weight;
};
struct SampleArgs {
  const void* x;
  const SampleTap* taps;
  const float* outside;  // one number
  void* y;
  unsigned total;  // threads with work
};

struct CastArgs {
  const void* x;
  void* y;
  int total;
};

// Where the test hook of fault.cuh writes.
struct FaultArgs {
  unsigned long long address;
};

// Changes between [n][c][pixels] and [n][pixels][padded c].
struct ReformatArgs {
  const void* x;
  void* y;
  int n, c, pixels, pitch;  // pitch: padded c
  int total;
  Divisor by_pixels, by_vectors;
};

struct LrnArgs {
  const void* x;
  void* y;
  int total, c, size;
  float alpha, beta, bias;
  Divisor by_c;
};

#ifndef ENGINERY_KERNEL_TEXT
}  // namespace enginery::gpu
#endif
