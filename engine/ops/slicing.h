// Operators that take tensors apart and put them together. Sources: ONNX Concat-13, Split-18,
// Slice-13, Gather-13, GatherElements-13.
//
// All types. Indices are int32 or int64; negative ones count from the end.
#pragma once

#include "engine/ops/attributes.h"
#include "engine/ops/operand.h"

namespace enginery {

// Inputs: one or more, of one type, equal except for the size along `axis`, which adds up.
struct Concat {
  static constexpr std::string_view kName = "concat";
  static constexpr bool kMovesElements = true;
  int64_t axis = 1;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("axis", s.axis);
  }
};

// Outputs: x cut along `axis` into one piece for each of `sizes`, which must add up to the whole.
struct Split {
  static constexpr std::string_view kName = "split";
  static constexpr bool kMovesElements = true;
  int64_t axis = 0;
  std::vector<int64_t> sizes;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("axis", s.axis);
    v("sizes", s.sizes);
  }
};

// Inputs: x, starts, ends, optional axes (default: the first ones), optional steps (all int64).
// Positions beyond the dimension are clamped, negative steps run backwards; an empty result is
// allowed.
struct Slice {
  static constexpr std::string_view kName = "slice";
  static constexpr bool kMovesElements = true;
  template <typename Self, typename V>
  static void fields(Self&, V&&) {}
};

// Inputs: data, indices. Output: data.dims with `axis` replaced by indices.dims. Errors:
// invalid_argument for an index outside of the axis.
struct Gather {
  static constexpr std::string_view kName = "gather";
  static constexpr bool kMovesElements = true;
  int64_t axis = 0;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("axis", s.axis);
  }
};

// Inputs: data, indices of data's rank and within its dims except along `axis`. Output:
// indices.dims, out[i][j] = data[indices[i][j]][j] for axis 0.
struct GatherElements {
  static constexpr std::string_view kName = "gather_elements";
  static constexpr bool kMovesElements = true;
  int64_t axis = 0;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("axis", s.axis);
  }
};

ENGINERY_OPERATOR(Concat);
ENGINERY_OPERATOR(Split);
ENGINERY_OPERATOR(Slice);
ENGINERY_OPERATOR(Gather);
ENGINERY_OPERATOR(GatherElements);

// One dimension of a slice: `size` elements, the first at `start`, each `step` after the last.
struct SliceDim {
  int64_t start = 0, step = 1, size = 0;
};

// What Slice takes of every dimension of a tensor of static dims `in`, for the reference and for
// kernels alike: negative positions count from the end, then everything is clamped. `axes` and
// `steps` are null where the node has none. Errors: invalid_argument. Source: ONNX Slice-13.
Result<std::vector<SliceDim>> slice_dims(const Dims& in, const std::vector<int64_t>& starts,
                                         const std::vector<int64_t>& ends,
                                         const std::vector<int64_t>* axes,
                                         const std::vector<int64_t>* steps);

}  // namespace enginery
