// A convolution with the max pooling behind it: the region
//
//   conv [, act], pool kind=max
//
// or a product of quantised numbers that ends in 8 bits (quantized_product.h) with the pooling of
// those. The activation never falls, so the largest value of a window may be found before the bias,
// the activation and the rounding, of which each keeps what is larger.
//
// Where: between a region and the sources that run it as one kernel. Values; pure functions.
#pragma once

#include "engine/tactics/tactic.h"

namespace enginery {

struct PooledConv {
  Problem conv;  // the region without its pooling; of floats a convolution with its epilogue
  Pooling pool;  // two-dimensional
};

// The places in graphs where one may stand, the longest first.
std::vector<RegionPattern> pooled_patterns();

// Whether a region ends in a max pooling of what its other operators compute.
bool is_pooled(const Problem& problem);

// Whether the activation of a larger number is never smaller.
bool never_falls(const Activation& activation);

// Errors: unsupported.
Result<PooledConv> pooled_conv(const Problem& problem);

}  // namespace enginery
