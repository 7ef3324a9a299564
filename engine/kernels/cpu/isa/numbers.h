// Arithmetic on NumberType's types: integers wrap.
#pragma once

#include "engine/kernels/cpu/isa/number_type.h"
#include "engine/kernels/cpu/isa/simd.h"

namespace enginery {
namespace {

// What sums and products are taken in, and the ends of what there is.
template <typename T>
struct Numbers;
template <>
struct Numbers<float> {
  using Sum = float;
  static constexpr float kLeast = -__builtin_inff(), kMost = __builtin_inff();
};
template <>
struct Numbers<int32_t> {
  using Sum = uint32_t;
  static constexpr int32_t kLeast = -__INT32_MAX__ - 1, kMost = __INT32_MAX__;
};
template <>
struct Numbers<int64_t> {
  using Sum = uint64_t;
  static constexpr int64_t kLeast = -__INT64_MAX__ - 1, kMost = __INT64_MAX__;
};

template <typename T>
inline T sum_of(T a, T b) {
  using Sum = typename Numbers<T>::Sum;
  return static_cast<T>(static_cast<Sum>(a) + static_cast<Sum>(b));
}
template <typename T>
inline T product_of(T a, T b) {
  using Sum = typename Numbers<T>::Sum;
  return static_cast<T>(static_cast<Sum>(a) * static_cast<Sum>(b));
}
inline int32_t larger(int32_t a, int32_t b) {
  return a > b ? a : b;
}
inline int64_t larger(int64_t a, int64_t b) {
  return a > b ? a : b;
}
inline int32_t smaller(int32_t a, int32_t b) {
  return a < b ? a : b;
}
inline int64_t smaller(int64_t a, int64_t b) {
  return a < b ? a : b;
}

}  // namespace
}  // namespace enginery
