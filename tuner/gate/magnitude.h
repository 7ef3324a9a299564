// Magnitudes of operators whose reference runs in full: what the error of a right result is
// measured by, for each element.
//
// Where: expectation.cpp; sums of products that are no part of a region have theirs from
// sampled_reference.h. Thread-safe, without state.
#pragma once

#include <optional>

#include "engine/tactics/problem.h"

namespace enginery {

// max(factor * |r|, element of `sums`) + least.
struct Magnitudes {
  std::optional<Tensor> sums;  // float32, of the output's dims
  double factor = 1, least = 0;
  double at(size_t element, double value) const;
};

// Operators whose results are sums, in which terms cancel: magnitudes_of sums the terms' sizes.
bool adds_up(const Problem& problem);

// Of the anchor's output 0. `inputs` are the anchor's, `result` what the reference made of them.
Result<Magnitudes> magnitudes_of(const Problem& problem, std::span<const Tensor* const> inputs,
                                 const Tensor& result);

}  // namespace enginery
