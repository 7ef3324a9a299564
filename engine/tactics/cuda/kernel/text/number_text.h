// Numbers that kernels combine two at a time: floats in float32, however they are kept; int32 and
// int64 as they are, and they wrap.
//
// Where: the families whose kernels serve both. Pure functions, any thread.
#pragma once

#include "engine/tactics/cuda/kernel/text/program.h"
#include "enginery/types.h"

namespace enginery {

// Whether kernels combine such numbers.
bool are_combined(DataType type);

// The macros FLOATS; ACC, the type of what is combined of such elements; LOAD(p), STORE(p, v),
// ADD(p, q), MULTIPLY(p, q). TX and TY are define_types' business.
void define_numbers(KernelProgram& program, DataType type);

}  // namespace enginery
