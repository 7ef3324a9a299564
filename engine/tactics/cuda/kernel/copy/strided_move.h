// StridedMove: an operator that only moves elements, as copies of boxes described by strides on
// both sides.
//
// Where: between the reading of transposes, concatenations, splits, slices and expansions and the
// launches of copy.cuh. Threads: values and pure functions.
#pragma once

#include "engine/tactics/shapes/reading.h"

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

}  // namespace enginery
