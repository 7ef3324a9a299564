// Element-wise functions of two or three broadcast inputs, and Cast. Sources: the ONNX operators of
// the same names.
//
// Broadcasting is numpy's: dims are aligned at the last one, a size of 1 repeats. The result may
// therefore be larger than either input. Errors: invalid_argument where sizes or types contradict.
#pragma once

#include "engine/ops/attributes.h"
#include "engine/ops/operand.h"

namespace enginery {

// The words of enum_names are stored in engines and keys: add at the end.
enum class BinaryKind {
  add,
  sub,
  mul,
  div,
  pow,
  min,
  max,
  mod,
  fmod,
  logical_and,
  logical_or,
  logical_xor,
  equal,
  greater,
  greater_equal,
  less,
  less_equal,
  bitwise_and,
  bitwise_or,
  bitwise_xor,
  shift_left,
  shift_right,
};
std::span<const std::string_view> enum_names(BinaryKind);

// Inputs: a, b, broadcast as numpy does. Output: their common type; boolean for comparisons. pow
// alone takes two types and answers in a's. Integer arithmetic wraps; div truncates toward zero,
// mod takes the divisor's sign, fmod the dividend's; an integer divided by zero is
// invalid_argument. min and max pass NaN on.
struct Binary {
  static constexpr std::string_view kName = "binary";
  static constexpr bool kMovesElements = false;
  BinaryKind kind = BinaryKind::add;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("kind", s.kind);
  }
};

// ONNX Where-16. Inputs: condition (boolean), a, b (of one type), all broadcast. Output: condition
// ? a : b. Its name in texts and keys is older than its name here.
struct Where {
  static constexpr std::string_view kName = "select";
  static constexpr bool kMovesElements = true;
  template <typename Self, typename V>
  static void fields(Self&, V&&) {}
};

// ONNX Cast-21. Input: any type. Output: the same dims, elements as convert() makes them `to`:
// floats are truncated to integers and saturate, NaN becomes 0, boolean is "not zero".
struct Cast {
  static constexpr std::string_view kName = "cast";
  static constexpr bool kMovesElements = true;
  DataType to = DataType::float32;
  bool saturate = true;  // 8-bit floats alone: beyond the largest is that one, else infinity or NaN
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("to", s.to);
    if (is_read(s) || !s.saturate) v("saturate", s.saturate);
  }
};

ENGINERY_OPERATOR(Binary);
ENGINERY_OPERATOR(Where);
ENGINERY_OPERATOR(Cast);

}  // namespace enginery
