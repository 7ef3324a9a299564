// Elements at computed places along one dimension.
//
// Filled by engine/tactics/cpu/kernel/gather_elements.cpp, which knows the problem and refuses
// indices outside of the dimension; the kernel reads nothing outside of it whatever they are.
#pragma once

#include "engine/kernels/cpu/isa/broadcast.h"

namespace enginery {

// out[i] = in[place(i) + index[i] * along]: `over` walks the indices and the output, which lie in
// order; its one operand is place, without the dimension that is indexed. A negative index counts
// from the end of `size`; one outside takes the nearest element.
struct GatherElementsArguments {
  const void* in;
  const void* indices;
  void* out;
  int element_bytes;  // 1, 2, 4 or 8
  bool wide;          // indices of 64 bits, else of 32
  int64_t size, along;
  BroadcastLoops over;
};

}  // namespace enginery
