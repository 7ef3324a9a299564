// The reference at some elements of the output only, in double: enough to catch a wrong kernel on a
// large shape without computing all of it.
//
// Where: a measurement fixture checks every tactic against it. Thread-safe, without state.
#pragma once

#include <optional>
#include <vector>

#include "engine/tactics/problem.h"

namespace enginery {

// Row-major numbers of `count` random output elements, with the corners and the last ones of every
// dimension always among them. Deterministic for a seed.
std::vector<int64_t> sample_elements(const Dims& dims, int64_t count, uint64_t seed);

// Expected values of the first output's `elements`. `inputs` run parallel to problem.inputs (null
// where absent). Operators that are cheap in full are computed in full.
Result<std::vector<double>> sampled_reference(const Problem& problem,
                                              const std::vector<const Tensor*>& inputs,
                                              const std::vector<int64_t>& elements);

}  // namespace enginery
