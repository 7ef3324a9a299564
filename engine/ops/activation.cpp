#include "engine/ops/activation.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/ops/support.h"

namespace enginery {
namespace {

constexpr std::string_view kActivationKinds[] = {
#define ENGINERY_ACTIVATION(name) #name,
#include "engine/ops/activation_kinds.inc"
#undef ENGINERY_ACTIVATION
};

constexpr std::string_view kUnaryKinds[] = {"abs",
                                            "neg",
                                            "exp",
                                            "log",
                                            "sqrt",
                                            "reciprocal",
                                            "floor",
                                            "ceil",
                                            "round",
                                            "sign",
                                            "erf",
                                            "sin",
                                            "cos",
                                            "tan",
                                            "asin",
                                            "acos",
                                            "atan",
                                            "sinh",
                                            "cosh",
                                            "asinh",
                                            "acosh",
                                            "atanh",
                                            "logical_not",
                                            "is_nan",
                                            "is_inf",
                                            "is_positive_inf",
                                            "is_negative_inf",
                                            "bitwise_not"};
static_assert(std::size(kUnaryKinds) == static_cast<size_t>(UnaryKind::bitwise_not) + 1);

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}
double softplus(double x) {
  return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
}

double clip(double x, double low, double high) {
  if (x < low) x = low;
  return x > high ? high : x;
}

double activate_wide(const Activation& op, double x) {
  const double a = op.alpha, b = op.beta;
  switch (op.kind) {
    case ActivationKind::relu:
      return x < 0 ? 0 : x;
    case ActivationKind::clip:
      return clip(x, a, b);
    case ActivationKind::leaky_relu:
      return x < 0 ? a * x : x;
    case ActivationKind::elu:
      return x < 0 ? a * std::expm1(x) : x;
    case ActivationKind::selu:
      return b * (x < 0 ? a * std::expm1(x) : x);
    case ActivationKind::celu:
      return x < 0 ? a * std::expm1(x / a) : x;
    case ActivationKind::sigmoid:
      return sigmoid(x);
    case ActivationKind::hard_sigmoid:
      return clip(a * x + b, 0, 1);
    case ActivationKind::hard_swish:
      return x * clip(x / 6 + 0.5, 0, 1);
    case ActivationKind::swish:
      return x * sigmoid(x);
    case ActivationKind::mish:
      return x * std::tanh(softplus(x));
    case ActivationKind::tanh:
      return std::tanh(x);
    case ActivationKind::softplus:
      return softplus(x);
    case ActivationKind::softsign:
      return x / (1 + std::abs(x));
    case ActivationKind::gelu_erf:
      return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2));
    case ActivationKind::gelu_tanh: {
      const double root = std::sqrt(2 / std::numbers::pi);
      return 0.5 * x * (1 + std::tanh(root * (x + 0.044715 * x * x * x)));
    }
    case ActivationKind::thresholded_relu:
      return x > a ? x : 0;
  }
  return x;
}

// Integers stay exact where the bounds do not touch them: a 64-bit value does not fit a double.
template <typename T>
T clip_integer(T x, double low, double high) {
  const double wide = static_cast<double>(x);
  if (wide < low) return saturate<T>(low > high ? high : low);
  return wide > high ? saturate<T>(high) : x;
}

double unary_wide(UnaryKind kind, double x) {
  switch (kind) {
    case UnaryKind::abs:
      return std::abs(x);
    case UnaryKind::neg:
      return -x;
    case UnaryKind::exp:
      return std::exp(x);
    case UnaryKind::log:
      return std::log(x);
    case UnaryKind::sqrt:
      return std::sqrt(x);
    case UnaryKind::reciprocal:
      return 1 / x;
    case UnaryKind::floor:
      return std::floor(x);
    case UnaryKind::ceil:
      return std::ceil(x);
    case UnaryKind::round:
      return std::nearbyint(x);
    case UnaryKind::sign:
      return x > 0 ? 1 : x < 0 ? -1 : x;
    case UnaryKind::erf:
      return std::erf(x);
    case UnaryKind::sin:
      return std::sin(x);
    case UnaryKind::cos:
      return std::cos(x);
    case UnaryKind::tan:
      return std::tan(x);
    case UnaryKind::asin:
      return std::asin(x);
    case UnaryKind::acos:
      return std::acos(x);
    case UnaryKind::atan:
      return std::atan(x);
    case UnaryKind::sinh:
      return std::sinh(x);
    case UnaryKind::cosh:
      return std::cosh(x);
    case UnaryKind::asinh:
      return std::asinh(x);
    case UnaryKind::acosh:
      return std::acosh(x);
    case UnaryKind::atanh:
      return std::atanh(x);
    default:
      ENSURE(false, "unary_wide: a kind without a value");
      return x;
  }
}

template <typename T>
T unary_integer(UnaryKind kind, T x) {
  switch (kind) {
    case UnaryKind::abs:
      return x < 0 ? static_cast<T>(0 - static_cast<uint64_t>(x)) : x;
    case UnaryKind::neg:
      return static_cast<T>(0 - static_cast<uint64_t>(x));
    case UnaryKind::sign:
      return x > 0 ? 1 : x < 0 ? static_cast<T>(-1) : 0;
    case UnaryKind::bitwise_not:
      return static_cast<T>(~x);
    default:
      return x;  // floor, ceil and round of an integer
  }
}

bool is_predicate(UnaryKind kind) {
  return kind == UnaryKind::logical_not || kind == UnaryKind::is_nan || kind == UnaryKind::is_inf ||
         kind == UnaryKind::is_positive_inf || kind == UnaryKind::is_negative_inf;
}

template <typename T>
bool holds(UnaryKind kind, T x) {
  if (kind == UnaryKind::logical_not) return x == T{};
  const double v = static_cast<double>(x);
  if (kind == UnaryKind::is_nan) return std::isnan(v);
  return std::isinf(v) &&
         (kind == UnaryKind::is_inf || (v > 0) == (kind == UnaryKind::is_positive_inf));
}

bool takes(UnaryKind kind, DataType type) {
  switch (kind) {
    case UnaryKind::logical_not:
      return type == DataType::boolean;
    case UnaryKind::bitwise_not:
      return is_integer(type);
    case UnaryKind::abs:
    case UnaryKind::neg:
    case UnaryKind::sign:
    case UnaryKind::floor:
    case UnaryKind::ceil:
    case UnaryKind::round:
      return is_floating(type) || is_integer(type);
    default:
      return is_floating(type);
  }
}

}  // namespace

std::span<const std::string_view> enum_names(ActivationKind) {
  return kActivationKinds;
}
std::span<const std::string_view> enum_names(UnaryKind) {
  return kUnaryKinds;
}

float activate(const Activation& op, float x) {
  return static_cast<float>(activate_wide(op, x));
}
double activate(const Activation& op, double x) {
  return activate_wide(op, x);
}

InferredTypes infer(const Activation& op, Operands in) {
  CHECK_OK(require_inputs(Activation::kName, in, 1, 1));
  const DataType type = in[0].type.type;
  bool integers =
      is_integer(type) && (op.kind == ActivationKind::relu || op.kind == ActivationKind::clip);
  if (!is_floating(type) && !integers) {
    return rule_error(Activation::kName,
                      std::string(enum_names(op.kind)[static_cast<size_t>(op.kind)]) + " of " +
                          std::string(to_string(type)) + " is not defined");
  }
  if (std::isnan(op.alpha) || std::isnan(op.beta)) {
    return rule_error(Activation::kName, "expected alpha and beta to be numbers");
  }
  return std::vector<TensorType>{in[0].type};
}

Status reference(const Activation& op, ReferenceInputs in, ReferenceOutputs out) {
  return with_number_type(in[0]->type(), [&](auto type) -> Status {
    using T = decltype(type);
    const T* x = elements<T>(*in[0]);
    T* y = elements<T>(out[0]);
    element_ranges(in[0]->size(), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        if constexpr (std::is_floating_point_v<T>)
          y[i] = activate(op, x[i]);
        else if (op.kind == ActivationKind::clip)
          y[i] = clip_integer(x[i], op.alpha, op.beta);
        else
          y[i] = x[i] < 0 ? 0 : x[i];
      }
    });
    return {};
  });
}

InferredTypes infer(const Unary& op, Operands in) {
  CHECK_OK(require_inputs(Unary::kName, in, 1, 1));
  const DataType type = in[0].type.type;
  if (!takes(op.kind, type)) {
    return rule_error(Unary::kName, std::string(enum_names(op.kind)[static_cast<size_t>(op.kind)]) +
                                        " of " + std::string(to_string(type)) + " is not defined");
  }
  return std::vector<TensorType>{
      {is_predicate(op.kind) ? DataType::boolean : type, in[0].type.dims}};
}

Status reference(const Unary& op, ReferenceInputs in, ReferenceOutputs out) {
  return with_number_type(in[0]->type(), [&](auto type) -> Status {
    using T = decltype(type);
    const T* x = elements<T>(*in[0]);
    const int64_t n = in[0]->size();
    if (is_predicate(op.kind)) {
      uint8_t* y = elements<uint8_t>(out[0]);
      for (int64_t i = 0; i < n; ++i) y[i] = holds(op.kind, x[i]);
      return {};
    }
    T* y = elements<T>(out[0]);
    element_ranges(n, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        if constexpr (std::is_floating_point_v<T>)
          y[i] = static_cast<T>(unary_wide(op.kind, x[i]));
        else
          y[i] = unary_integer(op.kind, x[i]);
      }
    });
    return {};
  });
}

InferredTypes infer(const PRelu&, Operands in) {
  CHECK_OK(require_inputs(PRelu::kName, in, 2, 2));
  CHECK_OK(require_same_type(PRelu::kName, in, {0, 1}));
  const Dims &x = in[0].type.dims, &slope = in[1].type.dims;
  if (!is_floating(in[0].type.type) && !is_integer(in[0].type.type)) {
    return rule_error(PRelu::kName,
                      "expected numbers, got " + std::string(to_string(in[0].type.type)));
  }
  bool fits = slope.size() <= x.size();
  for (size_t i = 0; fits && i < slope.size(); ++i) {
    const int64_t s = slope[slope.size() - 1 - i];
    fits = s == 1 || merge_sizes(s, x[x.size() - 1 - i]);
  }
  if (!fits)
    return rule_error(PRelu::kName,
                      "a slope of " + to_string(slope) + " does not broadcast to " + to_string(x));
  return std::vector<TensorType>{in[0].type};
}

Status reference(const PRelu&, ReferenceInputs in, ReferenceOutputs out) {
  Tensor slopes = broadcast_to(*in[1], in[0]->dims());
  return with_number_type(in[0]->type(), [&](auto type) -> Status {
    using T = decltype(type);
    const T *x = elements<T>(*in[0]), *slope = elements<T>(slopes);
    T* y = elements<T>(out[0]);
    element_ranges(in[0]->size(), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        if constexpr (std::is_floating_point_v<T>)
          y[i] = x[i] < 0 ? slope[i] * x[i] : x[i];
        else
          y[i] = x[i] < 0
                     ? static_cast<T>(static_cast<uint64_t>(slope[i]) * static_cast<uint64_t>(x[i]))
                     : x[i];
      }
    });
    return {};
  });
}

}  // namespace enginery
