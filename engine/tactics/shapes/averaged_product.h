// A fully connected layer, or a 1x1 convolution, of a picture's averages: the region
//
//   global_pool kind=average [, flatten | reshape | squeeze], gemm | matmul | conv [, act]
//
// with which classifiers end.
//
// Where: between a region and the sources that run it as one kernel. Values; pure functions.
#pragma once

#include "engine/tactics/tactic.h"

namespace enginery {

struct AveragedProduct {
  // A fully connected layer of the averages [pictures, channels], with the activation behind it. A
  // convolution's weights are those of a Gemm's transposed matrix, whatever their dims.
  Problem product;
  std::vector<int> from;  // which input of the region each of the product's is; -1: the averages
};

// The places in graphs where one may stand, the longest first.
std::vector<RegionPattern> averaged_product_patterns();

// Whether a region begins with a global average.
bool is_averaged_product(const Problem& problem);

// Errors: unsupported.
Result<AveragedProduct> averaged_product(const Problem& problem);

}  // namespace enginery
