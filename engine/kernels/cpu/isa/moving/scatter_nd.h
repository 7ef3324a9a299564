// A tensor with some of its rows replaced, or combined with others.
//
// Filled by engine/tactics/cpu/kernel/scatter_nd.cpp, which knows the problem and refuses indices
// outside of their dimensions; the kernel writes nothing outside of them whatever they are.
#pragma once

#include "engine/kernels/cpu/isa/moving/combining.h"
#include "engine/kernels/cpu/isa/moving/row_places.h"

namespace enginery {

// out = in, of `bytes` bytes; then out[place j] = updates[j], or both combined, of rows, one after
// the other.
struct ScatterNdArguments {
  const void* in;
  const void* updates;
  void* out;
  int64_t bytes;
  RowPlaces to;
  Combining combining;
};

}  // namespace enginery
