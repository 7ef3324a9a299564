// The walk over BroadcastLoops: pieces of rows of the innermost loop, shared by the team.
#pragma once

#include "engine/kernels/cpu/isa/broadcast.h"
#include "engine/kernels/cpu/isa/simd.h"

namespace enginery {
namespace {

// row(at, first, n): elements [first, first + n) of the output, whose operands begin at at[o].
template <int kOperands, typename Row>
void for_each_piece_of_rows(const BroadcastLoops& l, Row row) {
  constexpr int64_t kPiece = 4096;
  const int inner = l.loops - 1;
  const int64_t length = l.extent[inner], pieces = (length + kPiece - 1) / kPiece;
  int64_t rows = 1;
  for (int d = 0; d < inner; ++d) rows *= l.extent[d];
#pragma omp parallel for schedule(static) if (rows * length > kMinParallelWork)
  for (int64_t task = 0; task < rows * pieces; ++task) {
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
}

}  // namespace
}  // namespace enginery
