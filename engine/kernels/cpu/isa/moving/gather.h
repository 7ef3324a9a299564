// Slices of a tensor by index.
//
// Filled by engine/tactics/cpu/kernel/gather.cpp, which knows the problem and refuses indices
// outside of the axis; the kernel reads nothing outside of it whatever they are.
#pragma once

#include <cstdint>

namespace enginery {

// out[o, j] = in[o, indices[j]] of tensors [outer, size] and [outer, count] whose elements are rows
// of `row_bytes` bytes. A negative index counts from the end; one outside of the axis takes the
// nearest row.
struct GatherArguments {
  const void* in;
  const void* indices;
  void* out;
  int64_t outer, size, count, row_bytes;
  bool wide;  // indices of 64 bits, else of 32
};

}  // namespace enginery
