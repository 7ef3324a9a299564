// Values that a whole network can be run on where no input is given: to time it, never to judge its
// results.
#pragma once

#include "engine/tensor/tensor.h"

namespace enginery {

// Varied floats in [-1, 1]; zeros for integers, which may be positions.
Tensor sample_input(const TensorType& type);

}  // namespace enginery
