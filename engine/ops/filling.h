// Operators that fill and repeat: Pad, Tile, ConstantOfShape, Range. Sources: ONNX Pad-18, Tile-13,
// ConstantOfShape-9, Range-11.
//
// Sizes come from inputs: where these are not known at build time, the output's dims are run-time
// sizes. Errors: invalid_argument where a result would pass 2^40 elements.
#pragma once

#include "engine/ops/attributes.h"
#include "engine/ops/operand.h"

namespace enginery {

// What fills the padding: a constant, the mirrored input without its edge, the edge, or the
// input again from its other end.
enum class PadMode { constant, reflect, edge, wrap };
std::span<const std::string_view> enum_names(PadMode);

// Inputs: x, pads (int64: begins then ends, one for each of `axes`), optional value (scalar of x's
// type, default 0), optional axes (default: all). Output: size + begin + end in each dimension;
// negative pads crop. reflect and wrap repeat as often as they must. Errors: invalid_argument for
// crops beyond the input and for repeating an empty dimension.
struct Pad {
  static constexpr std::string_view kName = "pad";
  static constexpr bool kMovesElements = true;
  PadMode mode = PadMode::constant;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("mode", s.mode);
  }
};

// Inputs: x, repeats (int64, one for each dimension, at least 0). Output: size * repeats.
struct Tile {
  static constexpr std::string_view kName = "tile";
  static constexpr bool kMovesElements = true;
  template <typename Self, typename V>
  static void fields(Self&, V&&) {}
};

// ONNX ConstantOfShape-9. Input: shape (int64). Output: that shape filled with `value`, converted
// to `type`; an integer that a float cannot hold exactly must not be imported as this. Its name in
// texts and keys is older than its name here.
struct ConstantOfShape {
  static constexpr std::string_view kName = "fill";
  static constexpr bool kMovesElements = true;
  DataType type = DataType::float32;
  float value = 0;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("type", s.type);
    v("value", s.value);
  }
};

// Inputs: start, limit, delta (scalars of one type: floats, int16, int32, int64). Output:
// [ceil((limit - start) / delta)], a run-time size where one of them is not known at build time.
// Errors: invalid_argument for delta 0.
struct Range {
  static constexpr std::string_view kName = "range";
  static constexpr bool kMovesElements = false;
  template <typename Self, typename V>
  static void fields(Self&, V&&) {}
};

ENGINERY_OPERATOR(Pad);
ENGINERY_OPERATOR(Tile);
ENGINERY_OPERATOR(ConstantOfShape);
ENGINERY_OPERATOR(Range);

// What Pad reads, for reference and kernels alike: for each dimension, for each index of the
// output, the index of the input; -1 where the constant goes. Dims are static; pads as Pad's
// input, `axes` null where all dimensions are meant. Errors: invalid_argument.
Result<std::vector<std::vector<int64_t>>> pad_sources(const Pad& op,
                                                      const std::vector<int64_t>& pads,
                                                      const std::vector<int64_t>* axes,
                                                      const Dims& in, const Dims& out);

}  // namespace enginery
