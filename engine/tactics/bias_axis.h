// Where a bias lies: shared by those who make epilogues of additions (plan), compute them
// (reference) and read them out of files (format). A pure function.
#pragma once

#include "engine/ops/op.h"

namespace enginery {

// The dimension that a bias runs along in a result of that rank: the last of a matrix product, else
// dimension 1. May lie beyond the rank: then there is none.
inline size_t bias_axis(const Op& anchor, size_t rank) {
  const bool product =
      std::holds_alternative<MatMul>(anchor) || std::holds_alternative<Gemm>(anchor);
  return product ? rank - 1 : 1;
}

}  // namespace enginery
