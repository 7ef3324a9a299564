// Einstein summation. Source: ONNX Einsum-12 (numpy.einsum's rules).
#pragma once

#include "engine/ops/attributes.h"
#include "engine/ops/operand.h"

namespace enginery {

// "bij,bjk->bik": a letter for each dimension, "..." for the broadcast rest, without spaces.
// Letters that the output leaves out are summed over; without "->" the output has, in alphabetical
// order, the letters that occur once. Inputs: as many as the equation has terms, of one type.
// Errors: invalid_argument where one letter has two sizes.
struct Einsum {
  static constexpr std::string_view kName = "einsum";
  static constexpr bool kMovesElements = false;
  std::string equation;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("equation", s.equation);
  }
};

ENGINERY_OPERATOR(Einsum);

}  // namespace enginery
