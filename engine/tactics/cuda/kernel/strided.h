// Strided moves: an operator that only moves elements as one copy of a box, described by strides on
// both sides.
#pragma once

#include "engine/tactics/cuda/kernel/kernel_family.h"

namespace enginery {

// out[out_base + sum(i * out_stride)] = in[in_base + sum(i * in_stride)] for every index of `dims`;
// in elements.
struct StridedMove {
  Dims dims, in_stride, out_stride;
  int64_t in_base = 0, out_base = 0;
  int input = 0, output = 0;  // of the problem
};

// Dimensions of size 1 removed, neighbours that run on in both places joined. At least one
// dimension is left.
StridedMove simplified(const StridedMove& move);

// One launch of copy.cuh for a simplified move of elements of `bytes` bytes; pieces of 16 bytes
// where both sides allow it.
struct MoveUnit {
  int64_t bytes = 4;
  StridedMove move;
};
MoveUnit widest_unit(const StridedMove& move, int64_t element_bytes);

// Strides of a tensor stored in `layout`, in its logical order of dimensions.
Dims layout_strides(const Dims& dims, const Layout& layout);

}  // namespace enginery
