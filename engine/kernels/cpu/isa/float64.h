// Element-wise functions of float64, with operands that repeat.
//
// Filled by engine/tactics/cpu/kernel/float64.cpp, which knows the problem; the kernel checks
// nothing.
#pragma once

#include "engine/kernels/cpu/isa/broadcast.h"
#include "engine/ops/float64_function.h"

namespace enginery {

// out = function(a, b); b is a where the function has one operand.
struct Float64Arguments {
  const double* a;
  const double* b;
  double* out;
  Float64Function function;
  double alpha, beta;
  BroadcastLoops over;  // of a and b
};

}  // namespace enginery
