// Tensor: a dense host tensor, row-major, with shared immutable storage. A value; cheap to copy.
//
// Where: constants of a graph, inputs and outputs of references and of the runtime's host side.
// Threads: copies may be read from many threads; writing needs the only reference (see
// mutable_data). Sizes are in elements unless a name says bytes.
#pragma once

#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "engine/base/digest.h"
#include "enginery/types.h"

namespace enginery {

// The DataType of a C++ type. float16 and bfloat16 have none here: convert() to float32 first.
template <typename T>
constexpr DataType data_type_of();
template <>
constexpr DataType data_type_of<float>() {
  return DataType::float32;
}
template <>
constexpr DataType data_type_of<double>() {
  return DataType::float64;
}
template <>
constexpr DataType data_type_of<int8_t>() {
  return DataType::int8;
}
template <>
constexpr DataType data_type_of<uint8_t>() {
  return DataType::uint8;
}
template <>
constexpr DataType data_type_of<int16_t>() {
  return DataType::int16;
}
template <>
constexpr DataType data_type_of<uint16_t>() {
  return DataType::uint16;
}
template <>
constexpr DataType data_type_of<int32_t>() {
  return DataType::int32;
}
template <>
constexpr DataType data_type_of<uint32_t>() {
  return DataType::uint32;
}
template <>
constexpr DataType data_type_of<int64_t>() {
  return DataType::int64;
}
template <>
constexpr DataType data_type_of<uint64_t>() {
  return DataType::uint64;
}
template <>
constexpr DataType data_type_of<bool>() {
  return DataType::boolean;
}

class Tensor {
 public:
  Tensor() = default;  // float32 with dims {0}: no data
  // Uninitialised storage, 64-byte aligned. Requires static dims whose volume passed
  // checked_volume.
  Tensor(DataType type, Dims dims);

  // A tensor over memory that `storage` keeps alive; written to only after copying. The bytes must
  // stay as they are for as long as any copy lives.
  static Tensor borrow(DataType type, Dims dims, std::shared_ptr<const void> storage);

  // A copy of `values`, row-major. Requires values.size() == volume(dims).
  template <typename T>
  static Tensor of(Dims dims, std::span<const T> values) {
    Tensor t(data_type_of<T>(), std::move(dims));
    ENSURE(static_cast<int64_t>(values.size()) == t.size(),
           "Tensor::of: number of values and dims differ");
    if (!values.empty()) std::memcpy(t.mutable_bytes(), values.data(), values.size_bytes());
    return t;
  }
  template <typename T>
  static Tensor of(Dims dims, std::initializer_list<T> values) {
    return of<T>(std::move(dims), std::span<const T>(values.begin(), values.size()));
  }
  // Rank 0, one element.
  template <typename T>
  static Tensor scalar(T value) {
    return of<T>({}, {value});
  }

  DataType type() const { return type_.type; }
  const Dims& dims() const { return type_.dims; }
  const TensorType& tensor_type() const { return type_; }
  int64_t rank() const { return static_cast<int64_t>(type_.dims.size()); }
  int64_t size() const { return size_; }  // elements
  int64_t bytes() const { return size_ * element_bytes(type_.type); }

  // The first byte; null where there are no elements and nothing was allocated.
  const void* raw() const { return storage_.get(); }
  // Storage for writing; copies it first when other tensors share it.
  void* mutable_bytes();

  // The elements, row-major. Aborts where T is not the tensor's type.
  template <typename T>
  std::span<const T> data() const {
    ENSURE(data_type_of<T>() == type(), "Tensor::data: wrong element type");
    return {static_cast<const T*>(raw()), static_cast<size_t>(size_)};
  }
  // The same for writing; copies the storage first when other tensors share it.
  template <typename T>
  std::span<T> mutable_data() {
    ENSURE(data_type_of<T>() == type(), "Tensor::mutable_data: wrong element type");
    return {static_cast<T*>(mutable_bytes()), static_cast<size_t>(size_)};
  }

  // The same elements under other dims of equal volume (else aborts); shares storage.
  Tensor reshaped(Dims dims) const;

  ByteSpan byte_span() const {
    return {static_cast<const std::byte*>(raw()), static_cast<size_t>(bytes())};
  }

 private:
  TensorType type_{DataType::float32, {0}};
  int64_t size_ = 0;
  std::shared_ptr<void> storage_;
  bool borrowed_ = false;
};

// What a number beyond an 8-bit float's largest becomes: that one, or infinity (NaN in formats
// without). ONNX Cast-19, `saturate`.
enum class Overflow { saturate, infinity };

// Element-wise conversion: rounding to nearest even for float16, bfloat16 and 8-bit floats, C++
// rules for integers (floats are truncated and saturate), boolean is "not zero". 4-bit integers
// take floats rounded to nearest even and saturated, and the low four bits of integers. `overflow`
// is of 8-bit floats alone.
Tensor convert(const Tensor& tensor, DataType to, Overflow overflow = Overflow::saturate);

// IEEE half and bfloat16 conversions of single values; to nearest even, overflow gives infinity.
uint16_t float_to_half(float value);
float half_to_float(uint16_t bits);
uint16_t float_to_bfloat16(float value);
float bfloat16_to_float(uint16_t bits);

// Any numeric tensor's elements as int64 (floats truncated): shapes, axes, splits.
std::vector<int64_t> to_int64s(const Tensor& tensor);

// Row-major strides in elements: the last is 1.
Dims strides_of(const Dims& dims);

// max|y - r| / max|r|, the error that accuracy bars are stated in; infinite when y holds a NaN that
// r does not. Requires equal sizes.
double relative_error(const Tensor& y, const Tensor& r);

}  // namespace enginery
