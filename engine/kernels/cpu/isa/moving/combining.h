// How a scatter combines updates with what is there, one after the other.
#pragma once

#include "engine/kernels/cpu/isa/number_type.h"

namespace enginery {

enum class CombiningKind : int { replace, add, mul, min, max };

struct Combining {
  CombiningKind kind;
  NumberType type;  // of what is combined
};

}  // namespace enginery
