// OutputComparison: one output of one side against the other's, also where the two found different
// counts (NonZero, NonMaxSuppression).
//
// Where: comparison.h puts a report together of them. Plain values and a free function.
#pragma once

#include "cli/local/compared_side.h"
#include "engine/tensor/tensor_errors.h"

namespace enginery {

// How many entries each side found along an axis whose size is known after a run alone.
struct OutputCount {
  int64_t axis = 0, a = 0, b = 0;
  int64_t most = 0;  // that there can be
};

struct OutputComparison {
  std::string name;                      // A's
  TensorType type;                       // A's
  TensorErrors errors;                   // of A against B, over the entries that both have
  std::vector<OutputCount> counts = {};  // by axis

  bool counts_agree() const;
  // "output 'boxes' has 3 of at most 100 rows in A against 4 in B: the first 3 of both were
  // compared"; "" where the counts agree.
  std::string counts_text() const;
};

// `counted`: what is known of the output's sizes, of either side; null for neither. Errors:
// invalid_argument: other dims, along axes that are not counted.
Result<OutputComparison> compare_tensors(const std::string& name, const Tensor& a, const Tensor& b,
                                         const CountedSizes* counted);

}  // namespace enginery
