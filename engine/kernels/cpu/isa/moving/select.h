// A choice between two tensors, element by element.
//
// Filled by engine/tactics/cpu/kernel/select.cpp, which knows the problem; the kernel checks
// nothing.
#pragma once

#include "engine/kernels/cpu/isa/broadcast.h"

namespace enginery {

// out = condition ? a : b.
struct SelectArguments {
  const uint8_t* condition;
  const void* a;
  const void* b;
  void* out;
  int element_bytes;    // 1, 2, 4 or 8
  BroadcastLoops over;  // of condition, a, b
};

}  // namespace enginery
