// Element-wise functions of one input, floating for the most part. Sources: the ONNX operators of
// the same names; the formulas of ONNX's operator list.
//
// All three operators keep the dims of their input. NaN stays NaN. References compute in double and
// round once.
#pragma once

#include "engine/ops/attributes.h"
#include "engine/ops/operand.h"

namespace enginery {

// What `alpha` and `beta` of Activation mean, by kind; the others ignore them.
//   clip: min(max(x, alpha), beta)          leaky_relu, elu, celu: alpha for x < 0
//   selu: alpha, and beta as its gamma       hard_sigmoid: max(0, min(1, alpha * x + beta))
//   thresholded_relu: x where x > alpha, else 0
// The numbers are not stored anywhere, the words of enum_names are: add at the end.
enum class ActivationKind {
#define ENGINERY_ACTIVATION(name) name,
#include "engine/ops/activation_kinds.inc"
#undef ENGINERY_ACTIVATION
};
std::span<const std::string_view> enum_names(ActivationKind);

// Input: x, floating; relu and clip take integers too. Output: x's type and dims. swish is x *
// sigmoid(x), hard_swish is x * max(0, min(1, x / 6 + 0.5)), gelu_tanh the approximation by tanh.
struct Activation {
  static constexpr std::string_view kName = "act";
  static constexpr bool kMovesElements = false;
  ActivationKind kind = ActivationKind::relu;
  float alpha = 0, beta = 0;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("kind", s.kind);
    v("alpha", s.alpha);
    v("beta", s.beta);
  }
};

// The scalar function that every implementation is checked against.
float activate(const Activation& op, float x);
double activate(const Activation& op, double x);

// The words of enum_names are stored in engines and keys: add at the end.
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

// Input: x. Output: x's dims; its type, boolean for logical_not and is_*. abs, neg, sign, floor,
// ceil and round take floats and integers, logical_not booleans, bitwise_not integers, the others
// floats. round goes to the even neighbour at halves; is_inf means either sign.
struct Unary {
  static constexpr std::string_view kName = "unary";
  static constexpr bool kMovesElements = false;
  UnaryKind kind = UnaryKind::abs;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("kind", s.kind);
  }
};

// Inputs: x, slope (broadcast to x from the right, as ONNX PRelu-16). y = x < 0 ? slope * x : x.
// Output: x's type and dims; a slope that would widen x is invalid_argument.
struct PRelu {
  static constexpr std::string_view kName = "prelu";
  static constexpr bool kMovesElements = false;
  template <typename Self, typename V>
  static void fields(Self&, V&&) {}
};

ENGINERY_OPERATOR(Activation);
ENGINERY_OPERATOR(Unary);
ENGINERY_OPERATOR(PRelu);

}  // namespace enginery
