// Strided copies: Transpose, Concat, Split, Slice, Expand, Tile and changes of layout as copies of
// boxes of elements, described by strides on both sides.
//
// Read out of a problem by every source that moves elements, so that all of them agree with the
// reference (slice_dims of engine/ops/slicing.h has the bounds of a slice). Values, any thread.
// Strides and offsets count elements.
#pragma once

#include "engine/tactics/problem.h"

namespace enginery {

// One dimension of a tensor as it lies in memory. Strides may be negative (slices) or 0 (expands,
// tiles).
struct Axis {
  int64_t extent = 1, stride = 1;
};

// How to walk a tensor in its logical order, outermost dimension first. `block` > 0 divides
// dimension 1 into blocks of that many channels, two axes (block number, place in the block), so
// that blocked and other layouts are walked alike. Requires block > 0 where the layout is blocked,
// and channels that are whole blocks. At least one axis.
std::vector<Axis> axes_of(const Dims& dims, const Layout& layout, int64_t block = 0);

// out[out_offset + sum(i * out_stride)] = in[in_offset + sum(i * in_stride)] over all loops.
struct StridedCopy {
  struct Loop {
    int64_t extent = 1, in_stride = 1, out_stride = 1;
  };
  std::vector<Loop> loops;  // outermost first, at least one
  int64_t in_offset = 0, out_offset = 0;
  int input = 0, output = 0;  // of the problem
};

// How many elements it moves.
int64_t elements_of(const StridedCopy& copy);

// The problem (Transpose, Concat, Split, Slice, Expand or Tile without an epilogue) as copies
// between tensors that are all stored in `layout`, in the order of Concat's inputs or Split's
// outputs; boxes without elements are left out. Transpose, Expand and Tile know linear tensors
// only; blocked layouts are known to Concat and Split, where no part cuts through a block. Errors:
// unsupported (another operator or layout, bounds of a slice that are computed).
Result<std::vector<StridedCopy>> read_copies(const Problem& problem, const Layout& layout);

// The copy from one layout to another of the same dims, neither of them padded, with blocks of one
// size where both are blocked.
StridedCopy reformat_copy(const Dims& dims, const Layout& from, const Layout& to);

// The same copy with as few loops as possible: loops of one turn dropped, neighbours that walk both
// sides as one joined. At least one loop is left.
StridedCopy simplified(const StridedCopy& copy);

// A copy whose elements are pieces of `bytes` bytes.
struct CopyPieces {
  int64_t bytes = 4;
  StridedCopy copy;
};
// A simplified copy of elements of `element_bytes` bytes in pieces of 16 bytes, where the innermost
// loop is contiguous and every row begins and ends with a piece on both sides; else as it is.
CopyPieces widest_pieces(const StridedCopy& copy, int64_t element_bytes);

// The same copy with its loops ordered so that the output is written in the order of its addresses.
StridedCopy in_output_order(const StridedCopy& copy);

}  // namespace enginery
