// The walk over BroadcastLoops: pieces of rows of the innermost loop.
#pragma once

#include "engine/kernels/cpu/isa/broadcast.h"
#include "engine/kernels/cpu/isa/simd.h"

namespace enginery {
namespace {

// Rows cut into pieces.
struct PiecesOfRows {
  static constexpr int64_t kPiece = 4096;
  const BroadcastLoops& l;
  int inner;
  int64_t length, pieces, rows = 1;

  explicit PiecesOfRows(const BroadcastLoops& loops)
      : l(loops),
        inner(l.loops - 1),
        length(l.extent[inner]),
        pieces((length + kPiece - 1) / kPiece) {
    for (int d = 0; d < inner; ++d) rows *= l.extent[d];
  }

  template <int kOperands, typename Row>
  void call(int64_t task, Row row) const {
    const int64_t begin = task % pieces * kPiece, n = least(kPiece, length - begin);
    int64_t at[kOperands], rest = task / pieces;
    for (int o = 0; o < kOperands; ++o) at[o] = begin * l.stride[o][inner];
    for (int d = inner - 1; d >= 0; --d) {
      const int64_t i = rest % l.extent[d];
      rest /= l.extent[d];
      for (int o = 0; o < kOperands; ++o) at[o] += i * l.stride[o][d];
    }
    row(at, task / pieces * length + begin, n);
  }
};

// row(at, first, n): elements [first, first + n) of the output, whose operands begin at at[o]. The
// pieces are shared by the team.
template <int kOperands, typename Row>
void for_each_piece_of_rows(const BroadcastLoops& l, Row row) {
  const PiecesOfRows all(l);
#pragma omp parallel for schedule(static) if (all.rows * all.length > kMinParallelWork)
  for (int64_t task = 0; task < all.rows * all.pieces; ++task) all.call<kOperands>(task, row);
}

// The same, one piece after the other.
template <int kOperands, typename Row>
void for_each_piece_in_order(const BroadcastLoops& l, Row row) {
  const PiecesOfRows all(l);
  for (int64_t task = 0; task < all.rows * all.pieces; ++task) all.call<kOperands>(task, row);
}

}  // namespace
}  // namespace enginery
