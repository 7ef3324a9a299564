// Elements of a region of products in double, without the rest of it: what region_result.h has of
// every element, for products too large for that.
//
//   [[quantize(x),] dequantize(x), dequantize(w),] conv | gemm | matmul
//   [, dequantize(addend)] [, add] [, act] [, quantize] [, max pool]
//
// and two of them that are added, of which the first may be rounded and dequantised before.
//
// Where: expectation.cpp. Thread-safe, without state.
#pragma once

#include "tuner/gate/sampled_reference.h"

namespace enginery {

struct SampledRegion {
  // Parallel to the elements; where the region `rounds`, the quotients that its Quantize rounds, or
  // the largest of a window of them.
  std::vector<SampledValue> values;
  bool rounds = false;
  double largest_inner = 0;  // magnitude of what is passed on inside, at these elements
};

// Whether the region is one of these and has too many products to compute all of them.
bool is_sampled_region(const Problem& problem);

// Requires is_sampled_region, or a region of that form. `inputs` run parallel to problem.inputs,
// null where absent, floats as float32. Errors: those of the reference of Dequantize.
Result<SampledRegion> sampled_region(const Problem& problem,
                                     const std::vector<const Tensor*>& inputs,
                                     const std::vector<int64_t>& elements);

}  // namespace enginery
