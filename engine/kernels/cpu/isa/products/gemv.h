// Matrix products of few rows (a fully connected layer of a small batch).
//
// Filled by engine/tactics/cpu/kernel/gemv.cpp, which knows the problem; the kernel checks nothing.
#pragma once

#include <cstdint>

namespace enginery {

// y[m, n] = clip(x[m, k] * w[n, k] + bias[n]) for few rows m: the weights are read once from
// memory, four rows of them at a time, and from cache for every further row of x. All row-major,
// without gaps between rows.
struct GemvArguments {
  const float* x;
  const void* w;      // floats or, where `narrow`, bfloat16 values
  const float* bias;  // may be null
  float* y;
  int64_t m, n, k;
  float low, high;  // bounds of the clip; infinite: none
  bool narrow;
};

}  // namespace enginery
