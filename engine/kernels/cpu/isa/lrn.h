// Local response normalization, channels-last.
//
// Filled by engine/tactics/cpu/kernel/lrn.cpp, which knows the problem; the kernel checks nothing.
#pragma once

#include <cstdint>

namespace enginery {

// out = in / (bias + alpha / size * sum of squares of `size` neighbouring channels)^beta, for each
// of `pixels` pixels of a channels-last image. At most 31 neighbours: (size - 1) / 2 before the
// channel and the rest after it, those outside of the pixel count as 0. `in` and `out` are
// different storages. Source: ONNX LRN-13.
struct LrnArguments {
  const float* in;
  float* out;
  int64_t pixels, channels, size;
  float alpha, beta, bias;
};

}  // namespace enginery
