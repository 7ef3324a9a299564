// Operators that move or describe elements without computing: reshape, transpose, flatten, squeeze,
// unsqueeze, shape, expand, identity. Sources: the ONNX operators of the same names (opset 13
// forms: axes and shapes as inputs).
#pragma once

#include "engine/ops/attributes.h"
#include "engine/ops/operand.h"

namespace enginery {

// Inputs: x, shape (int64). 0 copies the input's size (unless allow_zero), -1 is inferred.
struct Reshape {
  static constexpr std::string_view kName = "reshape";
  bool allow_zero = false;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("allow_zero", s.allow_zero);
  }
};

// Output dimension i is input dimension permutation[i]; an empty permutation reverses them.
struct Transpose {
  static constexpr std::string_view kName = "transpose";
  std::vector<int64_t> permutation;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("permutation", s.permutation);
  }
};

// [d0..d(axis-1)] x [d(axis)..] as a matrix.
struct Flatten {
  static constexpr std::string_view kName = "flatten";
  int64_t axis = 1;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("axis", s.axis);
  }
};

// Inputs: x, optional axes (int64); without axes every dimension of size 1 goes.
struct Squeeze {
  static constexpr std::string_view kName = "squeeze";
  template <typename Self, typename V>
  static void fields(Self&, V&&) {}
};

// Inputs: x, axes (int64) of the output that become 1.
struct Unsqueeze {
  static constexpr std::string_view kName = "unsqueeze";
  template <typename Self, typename V>
  static void fields(Self&, V&&) {}
};

// Output: the input's dims [start, end) as an int64 vector.
struct Shape {
  static constexpr std::string_view kName = "shape";
  int64_t start = 0, end = INT64_MAX;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("start", s.start), v("end", s.end);
  }
};

// Inputs: x, shape (int64): numpy broadcasting in both directions.
struct Expand {
  static constexpr std::string_view kName = "expand";
  template <typename Self, typename V>
  static void fields(Self&, V&&) {}
};

// Output: the input. Dropout at inference imports as this.
struct Identity {
  static constexpr std::string_view kName = "identity";
  template <typename Self, typename V>
  static void fields(Self&, V&&) {}
};

InferredTypes infer(const Reshape& op, Operands in);
Status reference(const Reshape& op, ReferenceInputs in, ReferenceOutputs out);
InferredTypes infer(const Transpose& op, Operands in);
Status reference(const Transpose& op, ReferenceInputs in, ReferenceOutputs out);
InferredTypes infer(const Flatten& op, Operands in);
Status reference(const Flatten& op, ReferenceInputs in, ReferenceOutputs out);
InferredTypes infer(const Squeeze& op, Operands in);
Status reference(const Squeeze& op, ReferenceInputs in, ReferenceOutputs out);
InferredTypes infer(const Unsqueeze& op, Operands in);
Status reference(const Unsqueeze& op, ReferenceInputs in, ReferenceOutputs out);
InferredTypes infer(const Shape& op, Operands in);
Status reference(const Shape& op, ReferenceInputs in, ReferenceOutputs out);
InferredTypes infer(const Expand& op, Operands in);
Status reference(const Expand& op, ReferenceInputs in, ReferenceOutputs out);
InferredTypes infer(const Identity& op, Operands in);
Status reference(const Identity& op, ReferenceInputs in, ReferenceOutputs out);

}  // namespace enginery
