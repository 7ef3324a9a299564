// A fully connected layer as the sources see it: Gemm or MatMul with constant weights, few
// conditions checked in one place.
#pragma once

#include <optional>

#include "engine/tactics/tactic.h"

namespace enginery {

// y[m, n] = factor * x[m, k] * weights + addend, all float32.
struct FullyConnected {
  int64_t m = 0, n = 0, k = 0;
  bool weights_are_nk = false;  // else [k, n]
  float factor = 1;             // of the weights
  int addend = -1;              // problem input that is added along n, or -1
  float addend_factor = 1;
};

// The problem's anchor read as one; nothing where it is not.
std::optional<FullyConnected> read_fully_connected(const Problem& problem);

// A batched product that multiplies every matrix by the same constant weights, as a product of one
// matrix that has all their rows. Nothing where it is not one, or an operand of its epilogue
// repeats in another way than along the columns.
std::optional<Problem> of_all_rows(const Problem& problem);

// The weights (problem input 1) as they lie, times the factor.
Tensor weights_of(const FullyConnected& fc, Weights weights);
// The same with one output's behind the other's: [n, k].
Tensor weights_by_output(const FullyConnected& fc, Weights weights);
// The addend as [n], times its factor. Requires fc.addend >= 0.
Tensor addend_of(const FullyConnected& fc, Weights weights);

}  // namespace enginery
