// Element-wise functions of two or three broadcast inputs. Sources: the ONNX operators of the same
// names.
#pragma once

#include "engine/ops/attributes.h"
#include "engine/ops/operand.h"

namespace enginery {

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
  BinaryKind kind = BinaryKind::add;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("kind", s.kind);
  }
};

// Inputs: condition (boolean), a, b, all broadcast. Output: condition ? a : b. (ONNX Where-16)
struct Select {
  static constexpr std::string_view kName = "select";
  template <typename Self, typename V>
  static void fields(Self&, V&&) {}
};

// Input: any type. Output: the same elements as `to`. (ONNX Cast-13)
struct Cast {
  static constexpr std::string_view kName = "cast";
  DataType to = DataType::float32;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("to", s.to);
  }
};

InferredTypes infer(const Binary& op, Operands in);
Status reference(const Binary& op, ReferenceInputs in, ReferenceOutputs out);
InferredTypes infer(const Select& op, Operands in);
Status reference(const Select& op, ReferenceInputs in, ReferenceOutputs out);
InferredTypes infer(const Cast& op, Operands in);
Status reference(const Cast& op, ReferenceInputs in, ReferenceOutputs out);

}  // namespace enginery
