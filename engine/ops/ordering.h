// Operators whose result depends on the order of elements. Sources: ONNX TopK-11, CumSum-14,
// NonZero-13.
#pragma once

#include "engine/ops/attributes.h"
#include "engine/ops/operand.h"

namespace enginery {

// Inputs: x, k (one int64). Outputs: the k largest (or smallest) along `axis`, sorted, and their
// indices (int64). Of equal elements the first comes first; NaN is larger than any number. Errors:
// invalid_argument for k beyond the axis.
struct TopK {
  static constexpr std::string_view kName = "top_k";
  static constexpr bool kMovesElements = false;
  int64_t axis = -1;
  bool largest = true;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("axis", s.axis);
    v("largest", s.largest);
  }
};

// Inputs: x, axis (one int). Output: running sums along it, of x's dims; from the end with
// `reverse`, without the element itself with `exclusive`. Integers wrap.
struct CumSum {
  static constexpr std::string_view kName = "cum_sum";
  static constexpr bool kMovesElements = false;
  bool exclusive = false, reverse = false;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("exclusive", s.exclusive);
    v("reverse", s.reverse);
  }
};

// Output: int64 [rank, n], the positions of the n elements that are not zero, in row-major order.
// Errors: unsupported unless x is known at build time, since n is a size.
struct NonZero {
  static constexpr std::string_view kName = "non_zero";
  static constexpr bool kMovesElements = false;
  template <typename Self, typename V>
  static void fields(Self&, V&&) {}
};

ENGINERY_OPERATOR(TopK);
ENGINERY_OPERATOR(CumSum);
ENGINERY_OPERATOR(NonZero);

}  // namespace enginery
