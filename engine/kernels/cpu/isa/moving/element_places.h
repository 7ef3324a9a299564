// Elements of a tensor at places that an index along one dimension names: what gather_elements and
// scatter_elements share. Filled by engine/tactics/cpu/kernel/indexed.cpp.
#pragma once

#include "engine/kernels/cpu/isa/broadcast.h"

namespace enginery {

// Element i is at place(i) + index[i] * along: `over` walks the indices, which lie in order; its
// one operand is place, without the dimension that is indexed. A negative index counts from the end
// of `size`; one outside takes the nearest element.
struct ElementPlaces {
  const void* indices;
  bool wide;          // of 64 bits, else of 32
  int element_bytes;  // 1, 2, 4 or 8
  int64_t size, along;
  BroadcastLoops over;
};

}  // namespace enginery
