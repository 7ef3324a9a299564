// Random inputs for a problem: values that its operator can take, scaled so that results stay near
// one.
#pragma once

#include "engine/tactics/problem.h"

namespace enginery {

// A tensor for problem.inputs[index]; its given value where the problem fixes one.
Tensor random_input(const Problem& problem, size_t index, uint64_t seed);

}  // namespace enginery
