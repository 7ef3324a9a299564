// How a scatter combines updates with what is there, one after the other.
#pragma once

#include "engine/kernels/cpu/isa/number_type.h"

namespace enginery {

enum class Combining : int { replace, add, mul, min, max };

}  // namespace enginery
