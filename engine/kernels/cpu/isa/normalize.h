// Layer, RMS, instance and group normalisation: of rows of elements side by side.
//
// Filled by engine/tactics/cpu/kernel/normalize.cpp, which knows the problem; the kernel checks
// nothing.
#pragma once

#include <cstdint>

namespace enginery {

// Of each row: out = (in - mean) / sqrt(variance + epsilon) * scale + bias, then within [low,
// high]. Element i of row r takes scale and bias at r % period * step + i / each. Without a centre
// the mean counts as 0. `in` and `out` are different storages.
struct NormalizeArguments {
  const float* in;
  const float* scale;
  const float* bias;  // null: none
  float* out;
  int64_t rows, size;
  int64_t period, step, each;
  float epsilon;
  float low, high;  // infinite: no bound
  bool centred;
};

}  // namespace enginery
