// Operators that move or describe elements without computing: reshape, transpose, flatten, squeeze,
// unsqueeze, shape, expand, identity. Sources: the ONNX operators of the same names (opset 13
// forms: axes and shapes as inputs).
//
// All types; the output has the type of x (Shape: int64). A shape that is not known at build time
// gives run-time sizes as long as the rank is known, else unsupported.
#pragma once

#include "engine/ops/attributes.h"
#include "engine/ops/operand.h"

namespace enginery {

// Inputs: x, shape (int64). 0 copies the input's size (unless allow_zero), one -1 is inferred.
// Errors: invalid_argument where the volumes differ.
struct Reshape {
  static constexpr std::string_view kName = "reshape";
  static constexpr bool kMovesElements = true;
  bool allow_zero = false;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("allow_zero", s.allow_zero);
  }
};

// Output dimension i is input dimension permutation[i]; an empty permutation reverses them.
struct Transpose {
  static constexpr std::string_view kName = "transpose";
  static constexpr bool kMovesElements = true;
  std::vector<int64_t> permutation;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("permutation", s.permutation);
  }
};

// [d0 * .. * d(axis-1), d(axis) * ..] as a matrix; axis 0 gives one row. Negative: from the end.
struct Flatten {
  static constexpr std::string_view kName = "flatten";
  static constexpr bool kMovesElements = true;
  int64_t axis = 1;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("axis", s.axis);
  }
};

// Inputs: x, optional axes (int64); without axes every dimension of size 1 goes. Errors:
// invalid_argument for an axis of another size, unsupported without axes where sizes are run-time
// ones.
struct Squeeze {
  static constexpr std::string_view kName = "squeeze";
  static constexpr bool kMovesElements = true;
  template <typename Self, typename V>
  static void fields(Self&, V&&) {}
};

// Inputs: x, axes (int64) of the output that become 1.
struct Unsqueeze {
  static constexpr std::string_view kName = "unsqueeze";
  static constexpr bool kMovesElements = true;
  template <typename Self, typename V>
  static void fields(Self&, V&&) {}
};

// Output: the input's dims [start, end) as an int64 vector; both count from the end when negative
// and are clamped, as ONNX Shape-15 says.
struct Shape {
  static constexpr std::string_view kName = "shape";
  static constexpr bool kMovesElements = true;
  int64_t start = 0, end = INT64_MAX;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("start", s.start);
    v("end", s.end);
  }
};

// Inputs: x, shape (int64): numpy broadcasting in both directions, so a 1 in the shape keeps x's
// size.
struct Expand {
  static constexpr std::string_view kName = "expand";
  static constexpr bool kMovesElements = true;
  template <typename Self, typename V>
  static void fields(Self&, V&&) {}
};

// Output: the input. Dropout at inference imports as this.
struct Identity {
  static constexpr std::string_view kName = "identity";
  static constexpr bool kMovesElements = true;
  template <typename Self, typename V>
  static void fields(Self&, V&&) {}
};

ENGINERY_OPERATOR(Reshape);
ENGINERY_OPERATOR(Transpose);
ENGINERY_OPERATOR(Flatten);
ENGINERY_OPERATOR(Squeeze);
ENGINERY_OPERATOR(Unsqueeze);
ENGINERY_OPERATOR(Shape);
ENGINERY_OPERATOR(Expand);
ENGINERY_OPERATOR(Identity);

}  // namespace enginery
