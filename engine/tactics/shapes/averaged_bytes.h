// Averages of 8-bit numbers over windows or whole planes: the region
//
//   dequantize(x), pool kind=average | global_pool kind=average [, quantize]
//
// in which every scale is one constant and every zero point is known.
//
// Where: between a region and the sources that run it as one kernel. Values; pure functions.
#pragma once

#include "engine/tactics/shapes/requantized.h"

namespace enginery {

struct AveragedBytes {
  QuantizedOperand x;
  std::optional<QuantizedOperand> result;  // of it `input` is none; absent: float32
  Pooling pool;  // over whole planes: one window of their size, without padding
};

// The places in graphs where one may stand, the longest first.
std::vector<RegionPattern> averaged_patterns();

// Whether a region's second operator pools: those of requantized.h do not.
bool is_average_region(const Problem& problem);

// Errors: unsupported.
Result<AveragedBytes> averaged_bytes(const Problem& problem);

}  // namespace enginery
