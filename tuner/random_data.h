// Random inputs for a problem: values that its operator can take, scaled so that results stay near
// one. Floats are uniform in [-1, 1], weights smaller by the number of terms in a sum; integers are
// positions where the operator reads them as such.
//
// Where: a measurement fixture checks and times tactics on them. Thread-safe, without state.
#pragma once

#include "engine/tactics/problem.h"

namespace enginery {

// A tensor for problem.inputs[index]; its given value where the problem fixes one. The same for the
// same seed, however many threads there are.
Tensor random_input(const Problem& problem, size_t index, uint64_t seed);

}  // namespace enginery
