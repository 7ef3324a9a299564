// Floats to small integers by a scale and a zero point, and back.
//
// Filled by engine/tactics/cpu/kernel/quantize.cpp, which knows the problem; the kernel checks
// nothing.
#pragma once

#include <cstdint>

namespace enginery {

enum class SmallInteger { int8, uint8, int16, uint16 };

// in[o, s, i] with scale[s] and zero[s]: to integers saturate(round_half_even(in / scale) + zero),
// NaN becomes 0; from integers (in - zero) * scale.
struct QuantizeArguments {
  const void* in;
  void* out;
  const float* scale;
  const float* zero;
  int64_t outer, size, inner;
  SmallInteger integers;
  bool to_integers;
};

}  // namespace enginery
