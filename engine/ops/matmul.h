// Matrix products. Sources: ONNX MatMul-13 and Gemm-13.
//
// Floating and 32- and 64-bit integer matrices; float sums are accumulated in double by the
// references. Errors: invalid_argument where the inner sizes differ.
#pragma once

#include "engine/ops/attributes.h"
#include "engine/ops/operand.h"

namespace enginery {

// Inputs: a [..., M, K], b [..., K, N] of one type, with numpy.matmul's rules: leading dims
// broadcast, a vector counts as a row (a) or a column (b) and loses that dimension again. Output:
// [..., M, N].
struct MatMul {
  static constexpr std::string_view kName = "matmul";
  static constexpr bool kMovesElements = false;
  template <typename Self, typename V>
  static void fields(Self&, V&&) {}
};

// y = alpha * op(a) * op(b) + beta * c, with a, b of rank 2, op the transposition where it is asked
// for, and c (optional) broadcast to [M, N], never the other way. Output: [M, N].
struct Gemm {
  static constexpr std::string_view kName = "gemm";
  static constexpr bool kMovesElements = false;
  float alpha = 1, beta = 1;
  bool transpose_a = false, transpose_b = false;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("alpha", s.alpha);
    v("beta", s.beta);
    v("transpose_a", s.transpose_a);
    v("transpose_b", s.transpose_b);
  }
};

ENGINERY_OPERATOR(MatMul);
ENGINERY_OPERATOR(Gemm);

}  // namespace enginery
