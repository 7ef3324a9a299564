// Operators that take tensors apart and put them together. Sources: ONNX Concat-13, Split-18,
// Slice-13, Gather-13, GatherElements-13, Pad-18, Tile-13, ConstantOfShape-9, Range-11.
#pragma once

#include "engine/ops/attributes.h"
#include "engine/ops/operand.h"

namespace enginery {

// One or more inputs, equal but for the size along `axis`.
struct Concat {
  static constexpr std::string_view kName = "concat";
  int64_t axis = 1;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("axis", s.axis);
  }
};

// `sizes` along `axis`, one an output.
struct Split {
  static constexpr std::string_view kName = "split";
  int64_t axis = 0;
  std::vector<int64_t> sizes;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("axis", s.axis), v("sizes", s.sizes);
  }
};

// Inputs: x, starts, ends, optional axes, optional steps (all int64).
struct Slice {
  static constexpr std::string_view kName = "slice";
  template <typename Self, typename V>
  static void fields(Self&, V&&) {}
};

// Inputs: data, indices (negative counts from the end). Output: data.dims with `axis` replaced by
// indices.dims.
struct Gather {
  static constexpr std::string_view kName = "gather";
  int64_t axis = 0;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("axis", s.axis);
  }
};

// Inputs: data, indices of data's rank. out[i][j] = data[indices[i][j]][j] for axis 0.
struct GatherElements {
  static constexpr std::string_view kName = "gather_elements";
  int64_t axis = 0;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("axis", s.axis);
  }
};

enum class PadMode { constant, reflect, edge, wrap };
std::span<const std::string_view> enum_names(PadMode);

// Inputs: x, pads (int64: begins then ends), optional value (scalar), optional axes. Negative pads
// crop.
struct Pad {
  static constexpr std::string_view kName = "pad";
  PadMode mode = PadMode::constant;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("mode", s.mode);
  }
};

// Inputs: x, repeats (int64, one a dimension).
struct Tile {
  static constexpr std::string_view kName = "tile";
  template <typename Self, typename V>
  static void fields(Self&, V&&) {}
};

// Input: shape (int64). Output: that shape filled with `value` of type `type`.
struct Fill {
  static constexpr std::string_view kName = "fill";
  DataType type = DataType::float32;
  float value = 0;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("type", s.type), v("value", s.value);
  }
};

// Inputs: start, limit, delta (scalars).
struct Range {
  static constexpr std::string_view kName = "range";
  template <typename Self, typename V>
  static void fields(Self&, V&&) {}
};

InferredTypes infer(const Concat& op, Operands in);
Status reference(const Concat& op, ReferenceInputs in, ReferenceOutputs out);
InferredTypes infer(const Split& op, Operands in);
Status reference(const Split& op, ReferenceInputs in, ReferenceOutputs out);
InferredTypes infer(const Slice& op, Operands in);
Status reference(const Slice& op, ReferenceInputs in, ReferenceOutputs out);
InferredTypes infer(const Gather& op, Operands in);
Status reference(const Gather& op, ReferenceInputs in, ReferenceOutputs out);
InferredTypes infer(const GatherElements& op, Operands in);
Status reference(const GatherElements& op, ReferenceInputs in, ReferenceOutputs out);
InferredTypes infer(const Pad& op, Operands in);
Status reference(const Pad& op, ReferenceInputs in, ReferenceOutputs out);
InferredTypes infer(const Tile& op, Operands in);
Status reference(const Tile& op, ReferenceInputs in, ReferenceOutputs out);
InferredTypes infer(const Fill& op, Operands in);
Status reference(const Fill& op, ReferenceInputs in, ReferenceOutputs out);
InferredTypes infer(const Range& op, Operands in);
Status reference(const Range& op, ReferenceInputs in, ReferenceOutputs out);

}  // namespace enginery
