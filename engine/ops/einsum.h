// Einstein summation. Source: ONNX Einsum-12 (numpy.einsum's rules).
#pragma once

#include "engine/ops/attributes.h"
#include "engine/ops/operand.h"

namespace enginery {

// "bij,bjk->bik": a letter a dimension, "..." for the broadcast rest, without spaces. Letters that
// the output leaves out are summed over; without "->" the output has, in alphabetical order, the
// letters that occur once.
struct Einsum {
  static constexpr std::string_view kName = "einsum";
  std::string equation;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("equation", s.equation);
  }
};

InferredTypes infer(const Einsum& op, Operands in);
Status reference(const Einsum& op, ReferenceInputs in, ReferenceOutputs out);

}  // namespace enginery
