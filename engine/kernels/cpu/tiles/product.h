// Matrix products in bfloat16 with packed weights and an epilogue in float32.
//
// Filled by engine/tactics/cpu/kernel/product.cpp, which knows the problem; the kernel checks
// nothing.
#pragma once

#include <cstdint>

#include "engine/kernels/cpu/isa/pointwise.h"

namespace enginery {

// Columns of a panel of packed weights: [n / 32][k / 32][2][16][16][2], that is for each 32 columns
// and 32 rows of the weights two tiles, and in a tile's row two rows of the weights, value by
// value. Columns beyond the last are zeros.
constexpr int64_t kPanelColumns = 32;

// y[m, n] = steps(x[m, k] w[k, n]). `k` is a multiple of 32. `y` is float32 or, where `narrow`,
// bfloat16, and a storage of its own or that of an operand with as many values.
struct TileProductArguments {
  const uint16_t *x, *w;
  void* y;
  int64_t m, n, k;
  int64_t x_pitch, y_pitch;  // values from row to row
  // Where `x`'s rows are in pieces (TileOperands), each with `k` / `pieces` values.
  int64_t pieces;
  const int64_t* piece_at;  // null: one piece
  // Of each `row_width` rows the first `row_kept` are results, and those of y and of the operands
  // come without gaps; 0: all rows are.
  int64_t row_width, row_kept;
  bool narrow;
  int steps;
  PointwiseStep step[kMaxPointwiseSteps];
  MatrixOperand operand[kMaxPointwiseOperands];
};

}  // namespace enginery
