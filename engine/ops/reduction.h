// Reductions over axes, and the positions of extrema. Sources: the ONNX Reduce* operators (18),
// ArgMax-13, ArgMin-13.
#pragma once

#include "engine/ops/attributes.h"
#include "engine/ops/operand.h"

namespace enginery {

// l1 is the sum of |x|, l2 the root of sum_square; log_sum_exp subtracts the maximum first. The
// words of enum_names are stored in engines and keys: add at the end.
enum class ReduceKind { sum, mean, max, min, prod, sum_square, l1, l2, log_sum, log_sum_exp };
std::span<const std::string_view> enum_names(ReduceKind);

// Over `axes` (negative: from the end); with none, over all of them, or over nothing when
// none_is_identity. Output: x's type; reduced dims are 1, or gone without keep_dims. Floats and 32-
// and 64-bit integers (max and min: every type); integer means truncate toward zero.
struct Reduce {
  static constexpr std::string_view kName = "reduce";
  static constexpr bool kMovesElements = false;
  ReduceKind kind = ReduceKind::mean;
  std::vector<int64_t> axes;
  bool keep_dims = true, none_is_identity = false;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("kind", s.kind);
    v("axes", s.axes);
    v("keep_dims", s.keep_dims);
    v("none_is_identity", s.none_is_identity);
  }
};

// ONNX ArgMax-13 and ArgMin-13. Output: the index (int64) of the largest or smallest element along
// `axis`; the first of equal ones, or the last with select_last. That dimension is 1, or gone
// without keep_dims. Its name in texts and keys is older than its name here.
struct ArgMinMax {
  static constexpr std::string_view kName = "arg_extreme";
  static constexpr bool kMovesElements = false;
  bool largest = true, keep_dims = true, select_last = false;
  int64_t axis = 0;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("largest", s.largest);
    v("axis", s.axis);
    v("keep_dims", s.keep_dims);
    v("select_last", s.select_last);
  }
};

ENGINERY_OPERATOR(Reduce);
ENGINERY_OPERATOR(ArgMinMax);

}  // namespace enginery
