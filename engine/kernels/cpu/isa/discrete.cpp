// Comparisons, logic and integers, rows of the innermost loop by vector code: whether an operand
// repeats along it is a constant there. Bytes moved: those of both operands and of the result.
#include "engine/kernels/cpu/isa/discrete.h"

#include <type_traits>

#include "engine/kernels/cpu/isa/broadcast_rows.h"

namespace enginery {
namespace {

#define ENGINERY_DISCRETE(Name, result, expression) \
  struct Name {                                     \
    template <typename T>                           \
    static result of(T x, T y) {                    \
      return static_cast<result>(expression);       \
    }                                               \
  };
ENGINERY_DISCRETE(Equal, uint8_t, x == y)
ENGINERY_DISCRETE(NotEqual, uint8_t, x != y)
ENGINERY_DISCRETE(Less, uint8_t, x < y)
ENGINERY_DISCRETE(LessEqual, uint8_t, x <= y)
ENGINERY_DISCRETE(Infinite, uint8_t, (x == y) & (x - y != 0))
ENGINERY_DISCRETE(PositiveInfinite, uint8_t, (x > 0) & (x - y != 0))
ENGINERY_DISCRETE(NegativeInfinite, uint8_t, (x < 0) & (x - y != 0))
ENGINERY_DISCRETE(LogicalAnd, uint8_t, (x != 0) & (y != 0))
ENGINERY_DISCRETE(LogicalOr, uint8_t, (x != 0) | (y != 0))
ENGINERY_DISCRETE(LogicalXor, uint8_t, (x != 0) ^ (y != 0))
// Of unsigned numbers, at least as wide as an int: what wraps must not be signed.
ENGINERY_DISCRETE(Add, T, 1u * x + y)
ENGINERY_DISCRETE(Sub, T, 1u * x - y)
ENGINERY_DISCRETE(Mul, T, 1u * x * y)
ENGINERY_DISCRETE(Min, T, x < y ? x : y)
ENGINERY_DISCRETE(Max, T, x > y ? x : y)
ENGINERY_DISCRETE(BitwiseAnd, T, x& y)
ENGINERY_DISCRETE(BitwiseOr, T, x | y)
ENGINERY_DISCRETE(BitwiseXor, T, x ^ y)
ENGINERY_DISCRETE(Distance, T, x < y ? 1u * y - x : 1u * x - y)
ENGINERY_DISCRETE(Comparison, T, (x > y) - (x < y))
#undef ENGINERY_DISCRETE

template <typename T>
bool turns_sign(T divisor) {
  return std::is_signed_v<T> && divisor == static_cast<T>(-1);
}

// Processors trap where the most negative number is divided by -1.
struct Quotient {
  template <typename T>
  static T of(T x, T y) {
    return turns_sign(y) ? static_cast<T>(uint64_t{0} - static_cast<uint64_t>(x))
                         : static_cast<T>(x / y);
  }
};
struct Remainder {
  template <typename T>
  static T of(T x, T y) {
    return turns_sign(y) ? T{0} : static_cast<T>(x % y);
  }
};
struct Modulus {
  template <typename T>
  static T of(T x, T y) {
    const T rest = Remainder::of(x, y);
    return rest != 0 && (rest < 0) != (y < 0) ? static_cast<T>(rest + y) : rest;
  }
};

template <typename F, typename T, typename R, int kA, int kB>
void discrete_row(const T* __restrict a, const T* __restrict b, R* __restrict out, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) out[i] = F::of(a[kA * i], b[kB * i]);
}

template <typename F, typename T>
void discrete_all(const DiscreteArguments& s) {
  using R = decltype(F::of(T{}, T{}));
  const int inner = s.over.loops - 1;
  const bool a_moves = s.over.stride[0][inner] != 0, b_moves = s.over.stride[1][inner] != 0;
  for_each_piece_of_rows<2>(s.over, [=](const int64_t* at, int64_t first, int64_t n) {
    const T *a = static_cast<const T*>(s.a) + at[0], *b = static_cast<const T*>(s.b) + at[1];
    R* out = static_cast<R*>(s.out) + first;
    if (a_moves && b_moves)
      discrete_row<F, T, R, 1, 1>(a, b, out, n);
    else if (a_moves)
      discrete_row<F, T, R, 1, 0>(a, b, out, n);
    else if (b_moves)
      discrete_row<F, T, R, 0, 1>(a, b, out, n);
    else
      discrete_row<F, T, R, 0, 0>(a, b, out, n);
  });
}

// Functions for which the bits decide, whatever their sign.
template <typename F>
void of_bits(const DiscreteArguments& s) {
  switch (s.type) {
    case DiscreteType::int8:
    case DiscreteType::uint8:
      return discrete_all<F, uint8_t>(s);
    case DiscreteType::int16:
    case DiscreteType::uint16:
      return discrete_all<F, uint16_t>(s);
    case DiscreteType::int32:
    case DiscreteType::uint32:
      return discrete_all<F, uint32_t>(s);
    default:
      return discrete_all<F, uint64_t>(s);
  }
}

template <typename F>
void of_integers(const DiscreteArguments& s) {
  switch (s.type) {
    case DiscreteType::int8:
      return discrete_all<F, int8_t>(s);
    case DiscreteType::int16:
      return discrete_all<F, int16_t>(s);
    case DiscreteType::int32:
      return discrete_all<F, int32_t>(s);
    case DiscreteType::int64:
      return discrete_all<F, int64_t>(s);
    default:
      return of_bits<F>(s);
  }
}

template <typename F>
void of_floats(const DiscreteArguments& s) {
  if (s.type == DiscreteType::float64) return discrete_all<F, double>(s);
  discrete_all<F, float>(s);
}

template <typename F>
void of_numbers(const DiscreteArguments& s) {
  if (s.type == DiscreteType::float32 || s.type == DiscreteType::float64) return of_floats<F>(s);
  of_integers<F>(s);
}

}  // namespace

void ENGINERY_KERNEL(discrete)(const DiscreteArguments& s) {
  switch (s.function) {
    case DiscreteFunction::equal:
      return of_numbers<Equal>(s);
    case DiscreteFunction::not_equal:
      return of_numbers<NotEqual>(s);
    case DiscreteFunction::less:
      return of_numbers<Less>(s);
    case DiscreteFunction::less_equal:
      return of_numbers<LessEqual>(s);
    case DiscreteFunction::infinite:
      return of_floats<Infinite>(s);
    case DiscreteFunction::positive_infinite:
      return of_floats<PositiveInfinite>(s);
    case DiscreteFunction::negative_infinite:
      return of_floats<NegativeInfinite>(s);
    case DiscreteFunction::logical_and:
      return discrete_all<LogicalAnd, uint8_t>(s);
    case DiscreteFunction::logical_or:
      return discrete_all<LogicalOr, uint8_t>(s);
    case DiscreteFunction::logical_xor:
      return discrete_all<LogicalXor, uint8_t>(s);
    case DiscreteFunction::add:
      return of_bits<Add>(s);
    case DiscreteFunction::sub:
      return of_bits<Sub>(s);
    case DiscreteFunction::mul:
      return of_bits<Mul>(s);
    case DiscreteFunction::min:
      return of_integers<Min>(s);
    case DiscreteFunction::max:
      return of_integers<Max>(s);
    case DiscreteFunction::bitwise_and:
      return of_bits<BitwiseAnd>(s);
    case DiscreteFunction::bitwise_or:
      return of_bits<BitwiseOr>(s);
    case DiscreteFunction::bitwise_xor:
      return of_bits<BitwiseXor>(s);
    case DiscreteFunction::distance:
      return of_integers<Distance>(s);
    case DiscreteFunction::comparison:
      return of_integers<Comparison>(s);
    case DiscreteFunction::quotient:
      return of_integers<Quotient>(s);
    case DiscreteFunction::remainder:
      return of_integers<Remainder>(s);
    case DiscreteFunction::modulus:
      return of_integers<Modulus>(s);
  }
}

}  // namespace enginery
