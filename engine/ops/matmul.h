// Matrix products. Sources: ONNX operators MatMul-13 and Gemm-13.
#pragma once

#include "engine/ops/attributes.h"
#include "engine/ops/operand.h"

namespace enginery {

// Inputs: a [..., M, K], b [..., K, N] with numpy.matmul's broadcasting and rank-1 rules. Output:
// [..., M, N].
struct MatMul {
  static constexpr std::string_view kName = "matmul";
  template <typename Self, typename V>
  static void fields(Self&, V&&) {}
};

// y = alpha * op(a) * op(b) + beta * c, with a, b of rank 2 and c (optional) broadcast to [M, N].
struct Gemm {
  static constexpr std::string_view kName = "gemm";
  float alpha = 1, beta = 1;
  bool transpose_a = false, transpose_b = false;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("alpha", s.alpha), v("beta", s.beta), v("transpose_a", s.transpose_a),
        v("transpose_b", s.transpose_b);
  }
};

InferredTypes infer(const MatMul& op, Operands in);
Status reference(const MatMul& op, ReferenceInputs in, ReferenceOutputs out);
InferredTypes infer(const Gemm& op, Operands in);
Status reference(const Gemm& op, ReferenceInputs in, ReferenceOutputs out);

}  // namespace enginery
