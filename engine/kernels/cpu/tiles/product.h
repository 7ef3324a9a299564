// Matrix products in bfloat16 with packed weights and an epilogue in float32.
//
// Filled by engine/tactics/cpu/kernel/tile_product.cpp, which knows the problem; the kernel checks
// nothing.
#pragma once

#include <cstdint>

#include "engine/kernels/cpu/isa/pointwise.h"

namespace enginery {

// Columns of a panel of packed weights: [n / 32][k / 32][2][16][16][2], that is for each 32 columns
// and 32 rows of the weights two tiles, and in a tile's row two rows of the weights, value by
// value. Columns beyond the last are zeros.
constexpr int64_t kPanelColumns = 32;

// An operand of the epilogue, as strides from element to element: 0 where it repeats.
struct TileProductOperand {
  const float* at;
  int64_t row, column;
};

// y[m, n] = steps(x[m, k] w[k, n]). `k` is a multiple of 32. `y` is a storage of its own, float32
// or, where `narrow`, bfloat16.
struct TileProductArguments {
  const uint16_t *x, *w;
  void* y;
  int64_t m, n, k;
  bool narrow;
  int steps;
  PointwiseStep step[kMaxPointwiseSteps];
  TileProductOperand operand[kMaxPointwiseOperands];
};

}  // namespace enginery
