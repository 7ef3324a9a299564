// int8 with the zero point -128 become uint8 without one, and uint8 with 128 int8 without one: the
// same numbers, which kernels for zero points of 0 can multiply (onnxruntime's quantize_static
// makes the former of what follows a relu). What moves or chooses the integers on their way from
// Quantize to Dequantize follows. Integers that come in, go out or are known stay, and so does all
// that hangs together with them.
//
// Runs behind raise_quantize, once it is final what reads integers.
#pragma once

#include "engine/graph/graph.h"

namespace enginery {

// How many Quantize and Dequantize changed.
Result<int> drop_zero_points(Graph& graph);

}  // namespace enginery
