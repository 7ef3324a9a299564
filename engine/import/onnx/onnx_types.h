// ONNX's element types (TensorProto.DataType) as ours.
#pragma once

#include "enginery/types.h"

namespace enginery {

// Errors: unsupported (strings, complex numbers, 4-bit floats, exponents of 8 bits, integers of 2
// bits), invalid_argument (no such type); the message is the type's name.
Result<DataType> onnx_type(int64_t type);

}  // namespace enginery
