// 1x1 convolutions as products of pixels and channels.
//
// Filled by engine/tactics/cpu/kernel/conv1x1.cpp, which knows the problem; the kernel checks
// nothing.
#pragma once

#include <cstdint>

namespace enginery {

// 1x1 convolution: out[p, n] = clip(bias[n] + residual[p, n] + sum over c of in[p, c] * w[c, n])
// for all pixels p. Groups of pixels (images, or rows where the output has a border) are contiguous
// on the output side. `residual` may be `out` itself, nothing else may overlap; each thread of the
// team has `scratch_floats` of `scratch` for itself.
struct Conv1x1Arguments {
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

}  // namespace enginery
