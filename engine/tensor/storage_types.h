// 8-bit floats and 4-bit integers, element by element: what one byte stands for, and back.
//
// Where: below convert() alone. Sources: ONNX 1.16, "Float stored in 8 bits", "4 bit integer types"
// and Cast-21; "FP8 Formats for Deep Learning" (arXiv 2209.05433) for float8e4m3fn and float8e5m2,
// "8-bit Numerical Formats for Deep Neural Networks" (arXiv 2206.02915) for the fnuz ones. Free
// functions without state.
#pragma once

#include "engine/tensor/tensor.h"

namespace enginery {

// Sign, exponent and mantissa of 1 + e + m bits.
struct Float8Format {
  int mantissa_bits;
  int bias;
  uint8_t largest;   // the code of the largest finite number
  uint8_t infinity;  // 0: the format has none
  uint8_t nan;
  bool has_negative_zero;  // otherwise its code is the NaN
};
// Requires one of the four 8-bit float types.
const Float8Format& float8_format(DataType type);

// The number that `code` stands for.
float from_float8(uint8_t code, const Float8Format& format);
// `value` rounded to nearest even; what is then beyond the largest number becomes what `overflow`
// says.
uint8_t to_float8(double value, const Float8Format& format, Overflow overflow);

bool is_float8(DataType type);
bool is_4_bit_integer(DataType type);
// The low four bits of `value` as a 4-bit integer is made: an int8 (int4) or a uint8 (uint4).
uint8_t low_4_bits(int64_t value, DataType type);

// A tensor of a type that is_storage_only in the nearest type that holds all of its numbers: 8-bit
// floats as float32, 4-bit integers as int8 or uint8.
Tensor widen_storage(const Tensor& tensor);
// The reverse, of any other tensor, as convert() has it.
Tensor narrow_to_storage(const Tensor& tensor, DataType to, Overflow overflow);

}  // namespace enginery
