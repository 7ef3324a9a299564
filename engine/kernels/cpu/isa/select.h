// A choice between two tensors, element by element.
//
// Filled by engine/tactics/cpu/kernel/select.cpp, which knows the problem; the kernel checks
// nothing.
#pragma once

#include <cstdint>

namespace enginery {

constexpr int kMaxSelectLoops = 6;

// out = condition ? a : b over all loops, the innermost last; the output lies in order. Strides in
// elements, 0 where an operand repeats; along the innermost loop they are 0 or 1.
struct SelectArguments {
  const uint8_t* condition;
  const void* a;
  const void* b;
  void* out;
  int element_bytes;  // 1, 2, 4 or 8
  int loops;          // at least 1
  int64_t extent[kMaxSelectLoops];
  int64_t stride[3][kMaxSelectLoops];  // of condition, a, b
};

}  // namespace enginery
