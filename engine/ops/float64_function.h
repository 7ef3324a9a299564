// Float64Function: the element-wise functions of float64 that kernels compute
// (float64_functions.inc).
//
// Where: kernels of both kinds of device; shapes/float64_call.h says which one a problem is. Plain,
// so that kernels' texts include it.
#pragma once

namespace enginery {

enum class Float64Function : int {
#define FLOAT64_ACTIVATION(name, expression) name,
#define FLOAT64_UNARY(name, expression) name,
#define FLOAT64_BINARY(name, expression) name,
#include "engine/ops/float64_functions.inc"
};

}  // namespace enginery
