// A tensor with elements replaced at computed places along one dimension.
//
// Filled by engine/tactics/cpu/kernel/scatter_elements.cpp, which knows the problem and refuses
// indices outside of the dimension; the kernel writes nothing outside of it whatever they are.
#pragma once

#include "engine/kernels/cpu/isa/moving/combining.h"
#include "engine/kernels/cpu/isa/moving/element_places.h"

namespace enginery {

// out = in, of `bytes` bytes; then out[place of i] = updates[i], or both combined, one after the
// other: the updates lie in order, as the indices do.
struct ScatterElementsArguments {
  const void* in;
  const void* updates;
  void* out;
  int64_t bytes;
  ElementPlaces to;
  Combining combining;
};

}  // namespace enginery
