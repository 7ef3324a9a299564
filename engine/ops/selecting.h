// Operators that select by data, so that the size of their result is known after a run alone: the
// result stands at the beginning of a tensor of the largest size, zeros behind it, and a count says
// how much of it there is. Sources: ONNX NonZero-13, NonMaxSuppression-11.
#pragma once

#include "engine/ops/attributes.h"
#include "engine/ops/operand.h"

namespace enginery {

// Input: x. Outputs: int64 [rank, m], m the number of x's elements: in its first n columns the
// positions of the n elements that are not zero, in row-major order; n (int64 scalar).
struct FindNonZero {
  static constexpr std::string_view kName = "find_non_zero";
  static constexpr bool kMovesElements = false;
  template <typename Self, typename V>
  static void fields(Self&, V&&) {}
};

// Inputs: boxes [B, N, 4] and scores [B, C, N] (float32); the most boxes of one class (int64,
// absent: none), the largest overlap (intersection over union) and the least score that boxes stay
// below and above (float32; absent: 0, and no least score); optionally how many of the N boxes
// there are (int64 scalar). Boxes are two opposite corners (y, x, y, x), or with `centers` centre
// and size (x, y, width, height). Outputs: int64 [B * C * k, 3], k the most boxes where that is
// known, at most N: the selected (batch, class, box), of each class by falling score, of equal
// scores the first box first; their number (int64 scalar). Errors: invalid_argument for a negative
// number of boxes.
struct NonMaxSuppression {
  static constexpr std::string_view kName = "non_max_suppression";
  static constexpr bool kMovesElements = false;
  bool centers = false;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("centers", s.centers);
  }
};

// Inputs: x, then for each of `axes` (rising) an int64 scalar n. Output, of x's dims: the elements
// whose index along each of these axes is below its n, dense and row-major from the first element
// on, zeros behind them. What counts beyond the axis, or below zero, is the axis's size, or zero.
struct Compact {
  static constexpr std::string_view kName = "compact";
  static constexpr bool kMovesElements = true;
  std::vector<int64_t> axes;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("axes", s.axes);
  }
};

ENGINERY_OPERATOR(FindNonZero);
ENGINERY_OPERATOR(NonMaxSuppression);
ENGINERY_OPERATOR(Compact);

}  // namespace enginery
