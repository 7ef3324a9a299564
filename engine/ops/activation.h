// Element-wise functions of one input. Sources: the ONNX operators of the same names.
#pragma once

#include "engine/ops/attributes.h"
#include "engine/ops/operand.h"

namespace enginery {

// alpha and beta where a kind has parameters: leaky_relu x<0: alpha*x; clip: [alpha, beta]; elu,
// selu (alpha, gamma=beta), hard_sigmoid max(0, min(1, alpha*x+beta)); thresholded_relu x > alpha;
// celu alpha; others none.
enum class ActivationKind {
  relu,
  clip,
  leaky_relu,
  elu,
  selu,
  celu,
  sigmoid,
  hard_sigmoid,
  hard_swish,
  swish,
  mish,
  tanh,
  softplus,
  softsign,
  gelu_erf,
  gelu_tanh,
  thresholded_relu,
};
std::span<const std::string_view> enum_names(ActivationKind);

struct Activation {
  static constexpr std::string_view kName = "act";
  ActivationKind kind = ActivationKind::relu;
  float alpha = 0, beta = 0;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("kind", s.kind), v("alpha", s.alpha), v("beta", s.beta);
  }
};

// The scalar function that every implementation is checked against.
float activate(const Activation& op, float x);

enum class UnaryKind {
  abs,
  neg,
  exp,
  log,
  sqrt,
  reciprocal,
  floor,
  ceil,
  round,
  sign,
  erf,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  asinh,
  acosh,
  atanh,
  logical_not,
  is_nan,
  is_inf,
  is_positive_inf,
  is_negative_inf,
  bitwise_not,
};
std::span<const std::string_view> enum_names(UnaryKind);

// Output: the input's type, boolean for logical_not and is_*. round: half to even.
struct Unary {
  static constexpr std::string_view kName = "unary";
  UnaryKind kind = UnaryKind::abs;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("kind", s.kind);
  }
};

// Inputs: x, slope (broadcast to x from the right, as ONNX PRelu-16). y = x < 0 ? slope * x : x.
struct PRelu {
  static constexpr std::string_view kName = "prelu";
  template <typename Self, typename V>
  static void fields(Self&, V&&) {}
};

InferredTypes infer(const Activation& op, Operands in);
Status reference(const Activation& op, ReferenceInputs in, ReferenceOutputs out);
InferredTypes infer(const Unary& op, Operands in);
Status reference(const Unary& op, ReferenceInputs in, ReferenceOutputs out);
InferredTypes infer(const PRelu& op, Operands in);
Status reference(const PRelu& op, ReferenceInputs in, ReferenceOutputs out);

}  // namespace enginery
