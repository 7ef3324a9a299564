// To small integers and 8-bit floats, and back. Sources: ONNX QuantizeLinear-21,
// DequantizeLinear-21.
//
// `scale` and the optional `zero_point` (of scale's dims) hold one element for the tensor, one for
// each index of `axis`, or, with block_size b > 0, one for each b elements along `axis` (then they
// have x's rank).
#pragma once

#include "engine/ops/attributes.h"
#include "engine/ops/operand.h"

namespace enginery {

// Inputs: x (floating or int32), scale, optional zero_point. y = saturate(round_half_even(x /
// scale) + zero_point), of x's dims and type `to`; in 8-bit floats x / scale + zero_point as Cast
// makes it one.
struct Quantize {
  static constexpr std::string_view kName = "quantize";
  static constexpr bool kMovesElements = false;
  DataType to = DataType::int8;  // an integer of 4, 8 or 16 bits, or an 8-bit float
  int64_t axis = 1, block_size = 0;
  bool saturate = true;  // as Cast's
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("to", s.to);
    v("axis", s.axis);
    v("block_size", s.block_size);
    if (is_read(s) || !s.saturate) v("saturate", s.saturate);
  }
};

// Inputs: x (what Quantize makes, or int32), scale, optional zero_point. y = (x - zero_point) *
// scale, of x's dims and scale's type.
struct Dequantize {
  static constexpr std::string_view kName = "dequantize";
  static constexpr bool kMovesElements = false;
  int64_t axis = 1, block_size = 0;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("axis", s.axis);
    v("block_size", s.block_size);
  }
};

ENGINERY_OPERATOR(Quantize);
ENGINERY_OPERATOR(Dequantize);

}  // namespace enginery
