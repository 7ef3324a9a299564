// Resizing and padding as taps along each dimension: which elements an output is made of.
//
// Where: read here once for the kernels of both kinds of device. Threads: values and pure
// functions.
#pragma once

#include <algorithm>

#include "engine/ops/filling.h"
#include "engine/ops/resize.h"
#include "engine/tactics/problem.h"

namespace enginery {

// One dimension; without taps where it is kept as it is.
struct ResampledDim {
  int64_t in = 1, out = 1;
  std::vector<SampleTaps> taps;  // one row an output index

  // Of every row: shorter ones are filled up with weights of 0.
  size_t row_taps() const {
    size_t longest = 1;
    for (const SampleTaps& row : taps) longest = std::max(longest, row.taps.size());
    return longest;
  }
};

// Of a Resize to known sizes or a Pad by known amounts, in the logical order. Errors: unsupported.
Result<std::vector<ResampledDim>> resampled_dims(const Problem& problem);

// As the elements lie in memory, linear or channels last.
std::vector<ResampledDim> as_stored(std::vector<ResampledDim> dims, LayoutKind layout);

}  // namespace enginery
