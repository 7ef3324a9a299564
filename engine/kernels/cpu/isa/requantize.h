// 8-bit numbers of one scale, or the sum of two such tensors, to those of another scale.
//
// Filled by engine/tactics/cpu/kernel/requantize.cpp, which knows the problem; the kernel checks
// nothing.
#pragma once

#include <cstdint>

namespace enginery {

// A tensor of int8 or uint8, whose number q stands for (q - zero) * factor in steps of the result.
struct ScaledBytes {
  const void* data;  // null: there is none
  float factor, zero;
  bool is_signed;
};

// out[i] = clip(round_half_even(a[i] + b[i]) + zero, low, high); low and high are within the
// result's type. `out` may be the storage of `a` or of `b`. Where there are `factors`, a[i] is
// (q - a.zero) * factors[c] + shifts[c] instead, in steps of the result, and there is no `b`: the
// elements are [count / (channels * inner), channels, inner], inner 1 where channels are last.
struct RequantizeArguments {
  ScaledBytes a, b;
  void* out;
  int64_t count;
  float zero, low, high;
  bool is_signed;
  const float *factors, *shifts;
  int64_t channels, inner;
};

}  // namespace enginery
