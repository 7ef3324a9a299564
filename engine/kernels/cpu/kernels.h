// Our CPU kernels as the rest of enginery sees them: plain argument structs and one table of
// functions for each instruction set.
//
// The sources of this folder are compiled once for each set. They include this header and simd.h
// only: an inline function of the standard library compiled there could replace, at link time, the
// copy that every machine can run. Kernels run in the calling thread and its OpenMP team, have no
// state and check nothing.
#pragma once

#include <cstdint>

namespace enginery::cpu_kernels {

constexpr int kMaxLoops = 10;

// out[sum(i * out_stride)] = in[sum(i * in_stride)] over all loops, outermost first; strides in
// elements, of any sign.
struct CopyLoop {
  int64_t extent, in_stride, out_stride;
};
struct CopyArguments {
  const void* in;
  void* out;
  int element_bytes;  // 1, 2, 4 or 8
  int loops;          // at least 1; simplified by simplify_copy
  CopyLoop loop[kMaxLoops];
};

// Pooling of a channels-last picture, two spatial dimensions.
struct PoolArguments {
  const float* in;
  float* out;
  int64_t n, channels, in_h, in_w, out_h, out_w;
  int64_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w, pad_h,
      pad_w;                     // padding before
  int64_t pad_end_h, pad_end_w;  // padding after, as the operator states it (for the divisor)
  bool average, count_padding;
  float low, high;  // bounds of a fused clip; infinite: none
};

enum class Reduction : int { sum, mean, max, min, sum_square };
// out[o, i] = reduction over s of in[o, s, i].
struct ReduceArguments {
  const float* in;
  float* out;
  int64_t outer, size, inner;
  Reduction kind;
};

// Softmax over s of [outer, size, inner].
struct SoftmaxArguments {
  const float* in;
  float* out;
  int64_t outer, size, inner;
  bool log;
};

// Across the channels of a channels-last picture of `pixels` pixels.
struct LrnArguments {
  const float* in;
  float* out;
  int64_t pixels, channels, size;
  float alpha, beta, bias;
};

// One step of a pointwise chain on a value v; x is the step's operand.
enum class Function : int {
  relu,
  clip,
  leaky_relu,
  elu,
  selu,
  celu,
  sigmoid,
  hard_sigmoid,
  hard_swish,
  swish,
  mish,
  tanh,
  softplus,
  softsign,
  gelu_erf,
  gelu_tanh,
  thresholded_relu,
  abs,
  neg,
  exp,
  log,
  sqrt,
  reciprocal,
  floor,
  ceil,
  sign,
  erf,
  add,
  sub,
  reverse_sub,
  mul,
  div,
  reverse_div,
  min,
  max,
  prelu,  // v op x; reverse: x op v; prelu: slope x
};
constexpr bool takes_operand(Function f) {
  return f >= Function::add;
}

struct PointwiseStep {
  Function function;
  int operand;  // index into operands, or -1
  float alpha, beta;
};
constexpr int kMaxOperands = 6, kMaxSteps = 8, kMaxPointwiseLoops = 6;
// out = steps(operand 0), over all loops, the innermost last; operand_stride is 0 where an operand
// is broadcast.
struct PointwiseArguments {
  float* out;
  const float* operand[kMaxOperands];
  int operands, steps, loops;
  int64_t extent[kMaxPointwiseLoops], out_stride[kMaxPointwiseLoops];
  int64_t operand_stride[kMaxOperands][kMaxPointwiseLoops];
  PointwiseStep step[kMaxSteps];
};

// Depthwise convolution of a channels-last picture; weights [kernel_h, kernel_w, channels]. Needs
// channels >= the table's width.
struct DepthwiseArguments {
  const float *in, *weights, *bias;  // bias may be null
  float* out;
  int64_t n, channels, in_h, in_w, out_h, out_w;
  int64_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w, pad_h, pad_w;
  float low, high;
};

// y[m, n] = clip(x[m, k] * w[n, k] + bias[n]) for few rows m: the weights are read once.
struct FewRowsArguments {
  const float *x, *w, *bias;  // bias may be null
  float* y;
  int64_t m, n, k;
  float low, high;
};

// 1x1 convolution. Groups of pixels (images, or rows where the output has a border) are contiguous
// on the output side.
struct PixelProductArguments {
  const float *in, *weights, *bias, *residual;  // weights [panel][channels_in][2 * width], bias
                                                // padded alike; residual may be null
  float *out, *scratch;
  int64_t groups, pixels, channels_in, channels_out;
  int64_t in_group, in_chunk;  // floats between groups; between vectors of channels of one pixel
  int64_t in_row, in_pixel,
      in_row_pixels;  // where packs: floats between rows and pixels, pixels in a row
  int64_t out_group, out_pixel,
      out_vector;  // floats between groups, pixels, vectors of output channels
  int64_t block_pixels, scratch_floats;  // pixels at a time; scratch of one thread
  bool packs;  // the input is not pixels side by side by vectors: copy it first
  float low, high;
};

struct Kernels {
  int width;  // floats in a vector
  void (*copy)(const CopyArguments&);
  void (*pool)(const PoolArguments&);
  void (*reduce)(const ReduceArguments&);
  void (*softmax)(const SoftmaxArguments&);
  void (*lrn)(const LrnArguments&);
  void (*pointwise)(const PointwiseArguments&);
  void (*depthwise)(const DepthwiseArguments&);
  void (*few_rows)(const FewRowsArguments&);
  void (*pixel_product)(const PixelProductArguments&);
};

}  // namespace enginery::cpu_kernels
