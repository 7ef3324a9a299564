// Float64Function: the element-wise functions of float64 that kernels compute.
//
// Where: kernels of both kinds of device; shapes/float64_call.h says which one a problem is. Plain,
// so that kernels' texts include it.
#pragma once

// THE list, three groups: ACTIVATION(NAME, EXPRESSION), UNARY and BINARY. The names are those of
// ActivationKind, UnaryKind and BinaryKind; the expressions are C++ as well as CUDA, of doubles x,
// y (a binary operator's second), alpha and beta.
#define ENGINERY_FLOAT64_FUNCTIONS(ACTIVATION, UNARY, BINARY)                                      \
  ACTIVATION(relu, x < 0 ? 0.0 : x)                                                                \
  ACTIVATION(clip, (x < alpha ? (alpha > beta ? beta : alpha) : x > beta ? beta : x))              \
  ACTIVATION(leaky_relu, x < 0 ? alpha * x : x)                                                    \
  ACTIVATION(elu, x < 0 ? alpha * expm1(x) : x)                                                    \
  ACTIVATION(selu, (beta * (x < 0 ? alpha * expm1(x) : x)))                                        \
  ACTIVATION(celu, x < 0 ? alpha * expm1(x / alpha) : x)                                           \
  ACTIVATION(sigmoid, 1 / (1 + exp(-x)))                                                           \
  ACTIVATION(tanh, tanh(x))                                                                        \
  ACTIVATION(hard_sigmoid, alpha* x + beta < 0    ? 0.0                                            \
                           : alpha * x + beta > 1 ? 1.0                                            \
                                                  : alpha * x + beta)                              \
  ACTIVATION(hard_swish, (x * (x < -3 ? 0.0 : x > 3 ? 1.0 : x / 6 + 0.5)))                         \
  ACTIVATION(swish, x / (1 + exp(-x)))                                                             \
  ACTIVATION(mish, (x * tanh((x < 0 ? 0.0 : x) + log1p(exp(-fabs(x))))))                           \
  ACTIVATION(gelu_erf, 0.5 * x * (1 + erf(x * 0.70710678118654752440)))                            \
  ACTIVATION(gelu_tanh, 0.5 * x * (1 + tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)))) \
  ACTIVATION(softplus, (x < 0 ? 0.0 : x) + log1p(exp(-fabs(x))))                                   \
  ACTIVATION(softsign, x / (1 + fabs(x)))                                                          \
  ACTIVATION(thresholded_relu, x > alpha ? x : 0.0)                                                \
  UNARY(abs, fabs(x))                                                                              \
  UNARY(neg, -x)                                                                                   \
  UNARY(exp, exp(x))                                                                               \
  UNARY(log, log(x))                                                                               \
  UNARY(sqrt, sqrt(x))                                                                             \
  UNARY(reciprocal, 1 / x)                                                                         \
  UNARY(floor, floor(x))                                                                           \
  UNARY(ceil, ceil(x))                                                                             \
  UNARY(round, rint(x))                                                                            \
  UNARY(sign, x > 0 ? 1.0 : x < 0 ? -1.0 : x)                                                      \
  UNARY(erf, erf(x))                                                                               \
  UNARY(sin, sin(x))                                                                               \
  UNARY(cos, cos(x))                                                                               \
  UNARY(tan, tan(x))                                                                               \
  UNARY(asin, asin(x))                                                                             \
  UNARY(acos, acos(x))                                                                             \
  UNARY(atan, atan(x))                                                                             \
  UNARY(sinh, sinh(x))                                                                             \
  UNARY(cosh, cosh(x))                                                                             \
  UNARY(asinh, asinh(x))                                                                           \
  UNARY(acosh, acosh(x))                                                                           \
  UNARY(atanh, atanh(x))                                                                           \
  BINARY(add, x + y)                                                                               \
  BINARY(sub, x - y)                                                                               \
  BINARY(mul, (x * y))                                                                             \
  BINARY(div, x / y)                                                                               \
  BINARY(pow, pow(x, y))                                                                           \
  BINARY(min, x < y || x != x ? x : y)                                                             \
  BINARY(max, x > y || x != x ? x : y)                                                             \
  BINARY(fmod, fmod(x, y))                                                                         \
  BINARY(mod, fmod(x, y) != 0 && (fmod(x, y) < 0) != (y < 0) ? fmod(x, y) + y : fmod(x, y))
// For groups that are not wanted.
#define ENGINERY_NO_FUNCTION(name, expression)

namespace enginery {

enum class Float64Function : int {
#define ENGINERY_NAME(name, expression) name,
  ENGINERY_FLOAT64_FUNCTIONS(ENGINERY_NAME, ENGINERY_NAME, ENGINERY_NAME)
#undef ENGINERY_NAME
};

}  // namespace enginery
