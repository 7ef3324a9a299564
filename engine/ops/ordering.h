// Operators whose result depends on the order of elements. Sources: ONNX TopK-11, CumSum-14,
// NonZero-13.
#pragma once

#include "engine/ops/attributes.h"
#include "engine/ops/operand.h"

namespace enginery {

// Inputs: x, k (one int64). Outputs: the k largest (or smallest) along `axis`, sorted, and their
// indices (int64). Of equal elements the first comes first; NaN is larger than any number.
struct TopK {
  static constexpr std::string_view kName = "top_k";
  int64_t axis = -1;
  bool largest = true;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("axis", s.axis), v("largest", s.largest);
  }
};

// Inputs: x, axis (one int). Output: running sums along it, from the end with `reverse`, without
// the element itself with `exclusive`.
struct CumSum {
  static constexpr std::string_view kName = "cum_sum";
  bool exclusive = false, reverse = false;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("exclusive", s.exclusive), v("reverse", s.reverse);
  }
};

// Output: int64 [rank, n], the positions of the n elements that are not zero. n must follow from a
// constant.
struct NonZero {
  static constexpr std::string_view kName = "non_zero";
  template <typename Self, typename V>
  static void fields(Self&, V&&) {}
};

InferredTypes infer(const TopK& op, Operands in);
Status reference(const TopK& op, ReferenceInputs in, ReferenceOutputs out);
InferredTypes infer(const CumSum& op, Operands in);
Status reference(const CumSum& op, ReferenceInputs in, ReferenceOutputs out);
InferredTypes infer(const NonZero& op, Operands in);
Status reference(const NonZero& op, ReferenceInputs in, ReferenceOutputs out);

}  // namespace enginery
