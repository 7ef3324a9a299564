// Float64Call: an activation, unary or binary operator of float64 as a kernel's function.
//
// Where: the families float64 of CPUs and GPUs. Pure functions, any thread.
#pragma once

#include "engine/ops/float64_function.h"
#include "engine/tactics/problem.h"

namespace enginery {

struct Float64Call {
  Float64Function function;
  float alpha = 0, beta = 0;  // of an activation
  int operands = 1;
};

// Whether the problem is an element-wise operator with a float64 result, no region.
bool is_float64_elementwise(const Problem& problem);

// Errors: unsupported (a fused chain, a function that is not in the list, operands of other types).
Result<Float64Call> float64_call(const Problem& problem);

}  // namespace enginery
