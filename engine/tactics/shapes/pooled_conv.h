// A convolution with the max pooling behind it: the region
//
//   conv [, act], pool kind=max
//
// or a product of quantised numbers that ends in 8 bits (quantized_product.h) with the pooling of
// those, perhaps with the operator that quantises its input in front. The activation never falls,
// so the largest value of a window may be found before the bias, the activation and the rounding,
// of which each keeps what is larger.
//
// Where: between a region and the sources that run it as one kernel. Values; pure functions.
#pragma once

#include <optional>

#include "engine/tactics/tactic.h"

namespace enginery {

struct PooledConv {
  Problem conv;  // the region without its pooling; of floats a convolution with its epilogue
  Pooling pool;  // two-dimensional
  // The Quantize in front, alone; `conv` then has what it gives as input 0 and constants of the
  // region: `from` says which input of the region each one is, -1 for input 0.
  std::optional<Problem> quantize;
  std::vector<int> from;
};

// The places in graphs where one may stand, the longest first.
std::vector<RegionPattern> pooled_patterns();

// Those of floats alone.
std::vector<RegionPattern> pooled_float_patterns();

bool is_max_pool(const Op& op);

// Whether a region ends in a max pooling of what its other operators compute.
bool is_pooled(const Problem& problem);

// Whether the activation of a larger number is never smaller.
bool never_falls(const Activation& activation);

// Errors: unsupported.
Result<PooledConv> pooled_conv(const Problem& problem);

}  // namespace enginery
