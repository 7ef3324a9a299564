// Convolutions as products of pixels and channels, and matrix products of many rows: the rows are
// the pixels.
//
// Filled by engine/tactics/cpu/kernel/conv_product.cpp and product.cpp, which know the problem; the
// kernel checks nothing.
#pragma once

#include "engine/kernels/cpu/isa/pointwise.h"

namespace enginery {

// out[p, n] = clip(bias[n] + residual[p, n] + sum over d of in[p, d] * w[d, n]) for all pixels p.
// The depth d is the channels of a 1x1 convolution, else what lies under the window: tap by tap,
// each tap's channels as whole vectors, zeros outside of the image. Groups of pixels (images, or
// rows where the output of a 1x1 convolution has a border) are contiguous on the output side.
// `residual` may be `out` itself, nothing else may overlap; each thread of the team has
// `scratch_floats` of `scratch` for itself.
struct ConvProductArguments {
  const float *in, *weights, *bias, *residual;  // weights [panel][depth][2 * width], bias padded
                                                // alike; residual may be null
  float *out, *scratch;
  int64_t groups, pixels, depth, channels_out;
  int64_t in_group, in_chunk;  // floats between groups; between vectors of channels of one pixel
  int64_t in_row, in_pixel,
      in_row_pixels;  // where packs: floats between rows and pixels, output pixels in a row
  int64_t out_group, out_pixel,
      out_vector;        // floats between groups, pixels, vectors of output channels
  int64_t block_pixels;  // pixels at a time
  int64_t packed_floats, scratch_floats;  // of scratch: the packed block; all of one thread
  bool packs;  // the input is not pixels side by side by vectors: copy it first
  // Windows of more than one tap: then in_row and in_pixel are of the input's own pixels.
  bool has_window;
  int64_t channels, in_h, in_w, kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w,
      pad_h, pad_w;
  float low, high;
  // Where there are any: what follows on the clipped sums of a panel, which are then behind the
  // packed block in `scratch`. Operands are floats and lie by the pixels of all groups.
  int steps;
  PointwiseStep step[kMaxPointwiseSteps];
  MatrixOperand operand[kMaxPointwiseOperands];
};

}  // namespace enginery
