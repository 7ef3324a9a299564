// GemmShape: matrix products of any two operands, batched or not, read as strided GEMMs.
//
// Where: read by the families that multiply run-time operands; products by constant weights are
// also a ConvShape (conv_shape.h) and a FullyConnected (fully_connected.h). Threads: a value and a
// pure function.
#pragma once

#include "engine/tactics/shapes/epilogue.h"

namespace enginery {

// y[batch][m, n] = alpha * sum over k of a[batch][m, k] * b[batch][k, n]. Strides in elements of
// operands stored in order; a batch that repeats has stride 0.
struct GemmShape {
  int a = 0, b = 1;  // inputs of the problem; exchanged for a matrix times a vector, the row of the
                     // transposed product
  int64_t batches = 1, m = 1, n = 1, k = 1;
  int64_t a_stride_m = 0, a_stride_k = 1, b_stride_k = 0, b_stride_n = 1;
  BroadcastStrides a_batch, b_batch;
  float alpha = 1;
  AnchorBias bias;
};

// Errors: unsupported (another operator, integers, run-time sizes, an empty or a single-number
// result).
Result<GemmShape> gemm_shape(const Problem& problem);

}  // namespace enginery
