#include "engine/ops/elementwise.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <type_traits>

#include "engine/ops/support.h"

namespace enginery {
namespace {

constexpr std::string_view kBinaryKinds[] = {
    "add",        "sub",         "mul",           "div",         "pow",        "min",
    "max",        "mod",         "fmod",          "logical_and", "logical_or", "logical_xor",
    "equal",      "greater",     "greater_equal", "less",        "less_equal", "bitwise_and",
    "bitwise_or", "bitwise_xor", "shift_left",    "shift_right"};
static_assert(std::size(kBinaryKinds) == static_cast<size_t>(BinaryKind::shift_right) + 1);

bool is_logical(BinaryKind kind) {
  return kind == BinaryKind::logical_and || kind == BinaryKind::logical_or ||
         kind == BinaryKind::logical_xor;
}
bool is_comparison(BinaryKind kind) {
  return kind >= BinaryKind::equal && kind <= BinaryKind::less_equal;
}
bool is_bitwise(BinaryKind kind) {
  return kind >= BinaryKind::bitwise_and;
}

bool takes(BinaryKind kind, DataType type) {
  if (is_logical(kind)) return type == DataType::boolean;
  if (is_bitwise(kind)) return is_integer(type);
  return type != DataType::boolean || kind == BinaryKind::equal;
}

template <typename T>
bool compare(BinaryKind kind, T a, T b) {
  switch (kind) {
    case BinaryKind::logical_and:
      return a && b;
    case BinaryKind::logical_or:
      return a || b;
    case BinaryKind::logical_xor:
      return !a != !b;
    case BinaryKind::equal:
      return a == b;
    case BinaryKind::greater:
      return a > b;
    case BinaryKind::greater_equal:
      return a >= b;
    case BinaryKind::less:
      return a < b;
    default:
      return a <= b;
  }
}

template <typename T>
T combine_floats(BinaryKind kind, T a, T b) {
  switch (kind) {
    case BinaryKind::add:
      return a + b;
    case BinaryKind::sub:
      return a - b;
    case BinaryKind::mul:
      return a * b;
    case BinaryKind::div:
      return a / b;
    case BinaryKind::min:
      return a < b || a != a ? a : b;
    case BinaryKind::max:
      return a > b || a != a ? a : b;
    case BinaryKind::fmod:
      return std::fmod(a, b);
    case BinaryKind::mod: {
      const T rest = std::fmod(a, b);
      return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
    }
    default:
      ENSURE(false, "combine_floats: not a float kind");
      return 0;
  }
}

bool divides(BinaryKind kind) {
  return kind == BinaryKind::div || kind == BinaryKind::mod || kind == BinaryKind::fmod;
}

// Requires b != 0. The division of the most negative value by -1 wraps to itself.
template <typename T>
T divide_integers(BinaryKind kind, T a, T b) {
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return kind == BinaryKind::div ? static_cast<T>(0 - static_cast<uint64_t>(a)) : 0;
  }
  if (kind == BinaryKind::div) return static_cast<T>(a / b);
  T rest = static_cast<T>(a % b);
  const bool adjust = kind == BinaryKind::mod && rest != 0 && (rest < 0) != (b < 0);
  return adjust ? static_cast<T>(rest + b) : rest;
}

template <typename T>
T combine_integers(BinaryKind kind, T a, T b) {
  // Unsigned 64-bit arithmetic wraps without overflow, for every narrower type as well.
  const uint64_t x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
  const uint64_t bits = sizeof(T) * 8;
  switch (kind) {
    case BinaryKind::add:
      return static_cast<T>(x + y);
    case BinaryKind::sub:
      return static_cast<T>(x - y);
    case BinaryKind::mul:
      return static_cast<T>(x * y);
    case BinaryKind::min:
      return a < b ? a : b;
    case BinaryKind::max:
      return a > b ? a : b;
    case BinaryKind::bitwise_and:
      return static_cast<T>(x & y);
    case BinaryKind::bitwise_or:
      return static_cast<T>(x | y);
    case BinaryKind::bitwise_xor:
      return static_cast<T>(x ^ y);
    case BinaryKind::shift_left:
      return y < bits ? static_cast<T>(x << y) : T{};
    case BinaryKind::shift_right:
      return y < bits ? static_cast<T>(a >> y) : static_cast<T>(a < 0 ? -1 : 0);
    default:
      return divide_integers(kind, a, b);
  }
}

// Whole powers of integers are exact (and wrap); a negative exponent truncates to 1, -1 or 0.
uint64_t integer_power(int64_t base, int64_t exponent) {
  if (exponent < 0) {
    if (base == 1) return 1;
    if (base == -1) return exponent % 2 ? static_cast<uint64_t>(-1) : 1;
    return 0;
  }
  uint64_t result = 1, factor = static_cast<uint64_t>(base);
  for (uint64_t e = static_cast<uint64_t>(exponent); e; e >>= 1, factor *= factor) {
    if (e & 1) result *= factor;
  }
  return result;
}

// The exponent has a type of its own.
template <typename A, typename B>
A power(A base, B exponent) {
  if constexpr (std::is_integral_v<A> && std::is_integral_v<B>) {
    const bool huge = std::is_unsigned_v<B> && static_cast<uint64_t>(exponent) > INT64_MAX;
    return static_cast<A>(integer_power(static_cast<int64_t>(base),
                                        huge ? INT64_MAX : static_cast<int64_t>(exponent)));
  } else {
    return saturate<A>(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  }
}

Status power_reference(const Tensor& a, const Tensor& b, Tensor& out) {
  return with_number_type(a.type(), [&](auto base) -> Status {
    return with_number_type(b.type(), [&](auto exponent) -> Status {
      using A = decltype(base);
      using B = decltype(exponent);
      const A* x = elements<A>(a);
      const B* y = elements<B>(b);
      A* to = elements<A>(out);
      element_ranges(out.size(), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) to[i] = power(x[i], y[i]);
      });
      return {};
    });
  });
}

template <typename T>
Status combine(BinaryKind kind, const Tensor& a, const Tensor& b, Tensor& out) {
  const T *x = elements<T>(a), *y = elements<T>(b);
  T* to = elements<T>(out);
  if (std::is_integral_v<T> && divides(kind) && std::count(y, y + out.size(), T{0}) > 0)
    return rule_error(Binary::kName, "an integer is divided by zero");
  element_ranges(out.size(), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if constexpr (std::is_floating_point_v<T>)
        to[i] = combine_floats(kind, x[i], y[i]);
      else
        to[i] = combine_integers(kind, x[i], y[i]);
    }
  });
  return {};
}

Result<Dims> broadcast_all(std::string_view op, Operands in) {
  Dims dims = in[0].type.dims;
  for (size_t i = 1; i < in.size(); ++i) {
    auto joined = broadcast(dims, in[i].type.dims);
    if (!joined.ok()) return joined.error().within(std::string(op));
    dims = std::move(*joined);
  }
  return dims;
}

}  // namespace

std::span<const std::string_view> enum_names(BinaryKind) {
  return kBinaryKinds;
}

InferredTypes infer(const Binary& op, Operands in) {
  CHECK_OK(require_inputs(Binary::kName, in, 2, 2));
  const DataType a = in[0].type.type, b = in[1].type.type;
  if (op.kind != BinaryKind::pow) CHECK_OK(require_same_type(Binary::kName, in, {0, 1}));
  if (!takes(op.kind, a) || !takes(op.kind, b)) {
    return rule_error(Binary::kName, std::string(kBinaryKinds[static_cast<size_t>(op.kind)]) +
                                         " of " + std::string(to_string(a)) + " and " +
                                         std::string(to_string(b)) + " is not defined");
  }
  TRY(const Dims dims, broadcast_all(Binary::kName, in));
  return std::vector<TensorType>{{is_comparison(op.kind) ? DataType::boolean : a, dims}};
}

Status reference(const Binary& op, ReferenceInputs in, ReferenceOutputs out) {
  if (out[0].size() == 0) return {};
  Tensor a = broadcast_to(*in[0], out[0].dims()), b = broadcast_to(*in[1], out[0].dims());
  if (op.kind == BinaryKind::pow) return power_reference(a, b, out[0]);
  return with_number_type(a.type(), [&](auto type) -> Status {
    using T = decltype(type);
    if (!is_comparison(op.kind) && !is_logical(op.kind)) return combine<T>(op.kind, a, b, out[0]);
    const T *x = elements<T>(a), *y = elements<T>(b);
    uint8_t* to = elements<uint8_t>(out[0]);
    element_ranges(out[0].size(), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) to[i] = compare(op.kind, x[i], y[i]);
    });
    return {};
  });
}

InferredTypes infer(const Where&, Operands in) {
  CHECK_OK(require_inputs(Where::kName, in, 3, 3));
  if (in[0].type.type != DataType::boolean) {
    return rule_error(Where::kName, "expected a boolean condition, got " + to_string(in[0].type));
  }
  CHECK_OK(require_same_type(Where::kName, in, {1, 2}));
  TRY(const Dims dims, broadcast_all(Where::kName, in));
  return std::vector<TensorType>{{in[1].type.type, dims}};
}

Status reference(const Where&, ReferenceInputs in, ReferenceOutputs out) {
  if (out[0].size() == 0) return {};
  const Dims& dims = out[0].dims();
  Tensor condition = broadcast_to(*in[0], dims), a = broadcast_to(*in[1], dims),
         b = broadcast_to(*in[2], dims);
  with_element_bytes(a.type(), [&](auto type) {
    using T = decltype(type);
    const uint8_t* choose = elements<uint8_t>(condition);
    const T *x = elements<T>(a), *y = elements<T>(b);
    T* to = elements<T>(out[0]);
    element_ranges(out[0].size(), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) to[i] = choose[i] ? x[i] : y[i];
    });
  });
  return {};
}

InferredTypes infer(const Cast& op, Operands in) {
  CHECK_OK(require_inputs(Cast::kName, in, 1, 1));
  return std::vector<TensorType>{{op.to, in[0].type.dims}};
}

Status reference(const Cast& op, ReferenceInputs in, ReferenceOutputs out) {
  const Tensor converted = convert(*in[0], out[0].type(), overflow_of(op.saturate));
  if (converted.bytes() > 0)
    std::memcpy(out[0].mutable_bytes(), converted.raw(), static_cast<size_t>(converted.bytes()));
  return {};
}

}  // namespace enginery
