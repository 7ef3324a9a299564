// What the operators' shape rules and references share. Used by the .cpp files of this folder only.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "engine/ops/operand.h"

namespace enginery {

// ---- shape rules

// invalid_argument: "conv: expected ...".
Error rule_error(std::string_view op, const std::string& message);

// Whether input i is there, for shape rules.
inline bool has(Operands in, size_t i) {
  return i < in.size() && in[i].present;
}
// Input i, or null where it is absent, for references.
inline const Tensor* given(ReferenceInputs in, size_t i) {
  return i < in.size() ? in[i] : nullptr;
}

// All present inputs have one floating type.
Status require_floating(std::string_view op, Operands in);
// The listed inputs, where present, have the first one's type.
Status require_same_type(std::string_view op, Operands in, std::initializer_list<size_t> inputs);
// Input i, where present, is an int32 or int64 vector (or scalar).
Status require_int_vector(std::string_view op, Operands in, size_t i, std::string_view what);
// Input i, where present and of known dims, is a vector of `size` elements.
Status require_vector(std::string_view op, Operands in, size_t i, int64_t size,
                      std::string_view what);
// The rank lies in [least, most].
Status require_rank(std::string_view op, const Dims& dims, size_t least, size_t most = SIZE_MAX);
// Input i, where present, is not float64: the operator's numbers are float32 by definition, and
// rounding to them would go unnoticed. Errors: unsupported.
Status refuse_double(std::string_view op, Operands in, size_t i, std::string_view what);
// Indices are int32 or int64.
Status require_index_type(std::string_view op, const TensorType& indices);
// index in [-size, size) -> [0, size). Errors: invalid_argument.
Result<int64_t> checked_index(std::string_view op, int64_t index, int64_t size);

// Input i's value, if it is present and known at build time.
std::optional<std::vector<int64_t>> constant_ints(Operands in, size_t i);
// `rank` run-time sizes.
inline Dims unknown_dims(int64_t rank) {
  return Dims(static_cast<size_t>(rank), kDynamic);
}
// The rank of a tensor whose shape is the int vector `in[i]`. Errors: unsupported when it is a
// run-time size, invalid_argument when no tensor has as many dimensions.
Result<int64_t> rank_of_shape(std::string_view op, Operands in, size_t i);

// The size that both must have: the known one of the two, the symbol where both agree. nullopt:
// they contradict.
std::optional<int64_t> merge_sizes(int64_t a, int64_t b);
// Product of sizes: 0 if any is, the symbol itself when all others are 1, kDynamic for other
// run-time sizes.
int64_t product_of(std::span<const int64_t> sizes);

// ---- references

// A tensor's elements without a check of the type: references call these under with_number_type.
template <typename T>
const T* elements(const Tensor& t) {
  return static_cast<const T*>(t.raw());
}
template <typename T>
T* elements(Tensor& t) {
  return static_cast<T*>(t.mutable_bytes());
}

// f(T{}) with the type in which references see `type`: float, double, an integer type, uint8_t for
// boolean.
template <typename F>
Status with_number_type(DataType type, F&& f) {
  switch (type) {
    case DataType::float32:
      return f(float{});
    case DataType::float64:
      return f(double{});
    case DataType::int8:
      return f(int8_t{});
    case DataType::boolean:
    case DataType::uint8:
      return f(uint8_t{});
    case DataType::int16:
      return f(int16_t{});
    case DataType::uint16:
      return f(uint16_t{});
    case DataType::int32:
      return f(int32_t{});
    case DataType::uint32:
      return f(uint32_t{});
    case DataType::int64:
      return f(int64_t{});
    case DataType::uint64:
      return f(uint64_t{});
    default:
      return Error{ErrorCode::internal,
                   std::string(to_string(type)) + " was not widened for a reference"};
  }
}

// The same for operators that take floats alone.
template <typename F>
Status with_floating_type(DataType type, F&& f) {
  if (type == DataType::float64) return f(double{});
  return f(float{});
}

// f(T{}) with an unsigned type as wide as one element: for operators that only move elements.
template <typename F>
void with_element_bytes(DataType type, F&& f) {
  switch (element_bytes(type)) {
    case 1:
      return f(uint8_t{});
    case 2:
      return f(uint16_t{});
    case 4:
      return f(uint32_t{});
    default:
      return f(uint64_t{});
  }
}

// A computed value as an element: floats rounded, integers truncated towards zero and saturated,
// NaN becomes 0.
template <typename T>
T saturate(double v) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(v);
  } else {
    if (v != v) return 0;
    if (v <= static_cast<double>(std::numeric_limits<T>::min()))
      return std::numeric_limits<T>::min();
    if (v >= static_cast<double>(std::numeric_limits<T>::max()))
      return std::numeric_limits<T>::max();
    return static_cast<T>(v);
  }
}

// What an operator's `saturate` means for numbers beyond an 8-bit float's largest.
inline Overflow overflow_of(bool saturate) {
  return saturate ? Overflow::saturate : Overflow::infinity;
}

// Strides (in elements) that read a tensor of `from` as if it were broadcast to `to`.
Dims broadcast_strides(const Dims& from, const Dims& to);

// `out`, row-major, from in[offset + sum(index * strides)]; strides may be 0 or negative.
void copy_strided(const Tensor& in, int64_t offset, const Dims& strides, Tensor& out);

// `t` broadcast to `dims`; t itself where it has them already.
Tensor broadcast_to(const Tensor& t, const Dims& dims);

// work(begin, end) for ranges of `rows` rows of `size` elements, side by side where there are
// enough elements: for references whose rows do not depend on each other.
void row_ranges(int64_t rows, int64_t size,
                const std::function<void(int64_t begin, int64_t end)>& work);
// The same of single elements, and row by row.
void element_ranges(int64_t count, const std::function<void(int64_t begin, int64_t end)>& work);
void each_row(int64_t rows, int64_t size, const std::function<void(int64_t row)>& work);

// f(i, j) for the elements i in [begin, end) of `dims`, row-major, with j = sum(index * strides).
template <typename F>
void for_each_mapped(const Dims& dims, const Dims& strides, int64_t begin, int64_t end, F&& f) {
  Dims index(dims.size(), 0);
  int64_t j = 0;
  for (size_t d = dims.size(), rest = static_cast<size_t>(begin); rest > 0 && d-- > 0;) {
    index[d] = static_cast<int64_t>(rest) % dims[d];
    rest /= static_cast<size_t>(dims[d]);
    j += index[d] * strides[d];
  }
  for (int64_t i = begin; i < end; ++i) {
    f(i, j);
    for (size_t d = dims.size(); d-- > 0;) {
      j += strides[d];
      if (++index[d] < dims[d]) break;
      j -= strides[d] * dims[d];
      index[d] = 0;
    }
  }
}

// The same for every element.
template <typename F>
void for_each_mapped(const Dims& dims, const Dims& strides, F&& f) {
  for_each_mapped(dims, strides, 0, volume(dims), f);
}

// A tensor as [outer, size, inner] around one axis.
struct AxisView {
  int64_t outer = 1, size = 1, inner = 1;
};
AxisView view_axis(const Dims& dims, int64_t axis);

}  // namespace enginery
