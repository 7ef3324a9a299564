#include "engine/tensor/tensor.h"

#include <cmath>
#include <limits>
#include <memory_resource>
#include <type_traits>

#include "engine/base/huge_pages.h"
#include "engine/base/parallel.h"
#include "engine/tensor/storage_types.h"

namespace enginery {
namespace {

constexpr size_t kAlignment = 64;  // bytes: a cache line, and the widest vector register

// Large ones begin at a huge page, so that most of their bytes lie in such pages.
std::shared_ptr<void> allocate(int64_t bytes) {
  const size_t size = static_cast<size_t>(std::max<int64_t>(bytes, 1));
  const size_t alignment = size >= kHugePage ? kHugePage : kAlignment;
  std::pmr::memory_resource* const heap = std::pmr::new_delete_resource();
  void* const data = heap->allocate(size, alignment);
  prefer_huge_pages(data, size);
  return {data, [heap, size, alignment](void* p) { heap->deallocate(p, size, alignment); }};
}

// Stand-ins so that the dispatch below sees 16-bit floats as types of their own.
struct Half {
  uint16_t bits;
};
struct BFloat16 {
  uint16_t bits;
};
// A boolean read from a file may hold any byte; C++'s bool may not.
struct Boolean {
  uint8_t byte;
};

// Straight from double: by way of float it would be rounded twice.
uint16_t double_to_half(double value) {
  _Float16 h = static_cast<_Float16>(value);
  uint16_t bits;
  std::memcpy(&bits, &h, 2);
  return bits;
}

// The same for bfloat16, by way of a float that is rounded to odd: its last bit is 1 wherever
// something was cut off, so that the second rounding takes no exact half for one.
uint16_t double_to_bfloat16(double value) {
  const float rounded = static_cast<float>(value);
  if (std::isnan(value) || static_cast<double>(rounded) == value) return float_to_bfloat16(rounded);
  uint32_t bits;
  std::memcpy(&bits, &rounded, 4);
  if (std::abs(static_cast<double>(rounded)) > std::abs(value)) --bits;  // towards zero
  bits |= 1;
  float odd;
  std::memcpy(&odd, &bits, 4);
  return float_to_bfloat16(odd);
}

template <typename T>
double load(const T& v) {
  if constexpr (std::is_same_v<T, Half>)
    return half_to_float(v.bits);
  else if constexpr (std::is_same_v<T, BFloat16>)
    return bfloat16_to_float(v.bits);
  else if constexpr (std::is_same_v<T, Boolean>)
    return v.byte != 0;
  else
    return static_cast<double>(v);
}

template <typename T>
T store(double v) {
  if constexpr (std::is_same_v<T, Half>)
    return {double_to_half(v)};
  else if constexpr (std::is_same_v<T, BFloat16>)
    return {double_to_bfloat16(v)};
  else if constexpr (std::is_same_v<T, Boolean>)
    return {v != 0};
  else if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(v);
  else {
    if (std::isnan(v)) return 0;
    if (v <= static_cast<double>(std::numeric_limits<T>::min()))
      return std::numeric_limits<T>::min();
    if (v >= static_cast<double>(std::numeric_limits<T>::max()))
      return std::numeric_limits<T>::max();
    return static_cast<T>(v);
  }
}

template <typename F>
void with_type(DataType type, F&& f) {
  switch (type) {
    case DataType::float32:
      return f(float{});
    case DataType::float16:
      return f(Half{});
    case DataType::bfloat16:
      return f(BFloat16{});
    case DataType::float64:
      return f(double{});
    case DataType::int8:
      return f(int8_t{});
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
    case DataType::boolean:
      return f(Boolean{});
    default:
      ENSURE(false, "convert: types for storage alone are widened first");
  }
}

constexpr int64_t kPiece = 1 << 20;  // elements converted by one thread at a time

template <typename From, typename To>
void convert_all(const From* a, To* b, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    // Integers go straight, so that 64-bit values keep all their bits (and are rounded once);
    // between them C++ wraps.
    if constexpr (std::is_integral_v<From> && std::is_arithmetic_v<To>) {
      b[i] = static_cast<To>(a[i]);
    } else {
      b[i] = store<To>(load(a[i]));
    }
  }
}

}  // namespace

Tensor::Tensor(DataType type, Dims dims) : type_{type, std::move(dims)}, size_(volume(type_.dims)) {
  ENSURE(is_static(type_.dims), "a Tensor needs static dims");
  storage_ = allocate(bytes());
}

Tensor Tensor::borrow(DataType type, Dims dims, std::shared_ptr<const void> storage) {
  Tensor t;
  t.type_ = {type, std::move(dims)};
  t.size_ = volume(t.type_.dims);
  t.storage_ = std::const_pointer_cast<void>(std::move(storage));
  t.borrowed_ = true;
  return t;
}

void* Tensor::mutable_bytes() {
  if (borrowed_ || storage_.use_count() > 1) {
    borrowed_ = false;
    auto copy = allocate(bytes());
    std::memcpy(copy.get(), storage_.get(), static_cast<size_t>(bytes()));
    storage_ = std::move(copy);
  }
  return storage_.get();
}

Tensor Tensor::reshaped(Dims dims) const {
  ENSURE(volume(dims) == size_, "reshaped: volumes differ");
  Tensor t = *this;
  t.type_.dims = std::move(dims);
  return t;
}

Tensor convert(const Tensor& tensor, DataType to, Overflow overflow) {
  if (tensor.type() == to) return tensor;
  if (is_storage_only(tensor.type())) return convert(widen_storage(tensor), to, overflow);
  if (is_storage_only(to)) return narrow_to_storage(tensor, to, overflow);
  Tensor out(to, tensor.dims());
  void* target = out.mutable_bytes();
  with_type(tensor.type(), [&](auto from) {
    with_type(to, [&](auto into) {
      using From = decltype(from);
      using To = decltype(into);
      parallel_ranges(tensor.size(), kPiece, [&](int64_t begin, int64_t end) {
        convert_all(static_cast<const From*>(tensor.raw()) + begin,
                    static_cast<To*>(target) + begin, end - begin);
      });
    });
  });
  return out;
}

uint16_t float_to_half(float value) {
  _Float16 h = static_cast<_Float16>(value);
  uint16_t bits;
  std::memcpy(&bits, &h, 2);
  return bits;
}

float half_to_float(uint16_t bits) {
  _Float16 h;
  std::memcpy(&h, &bits, 2);
  return static_cast<float>(h);
}

uint16_t float_to_bfloat16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return static_cast<uint16_t>((bits >> 16) | 0x40);  // NaN stays NaN
  bits += 0x7fff + ((bits >> 16) & 1);
  return static_cast<uint16_t>(bits >> 16);
}

float bfloat16_to_float(uint16_t bits) {
  uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, 4);
  return value;
}

std::vector<int64_t> to_int64s(const Tensor& tensor) {
  const Tensor wide = convert(tensor, DataType::int64);
  const auto values = wide.data<int64_t>();
  return {values.begin(), values.end()};
}

Dims strides_of(const Dims& dims) {
  Dims strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

double relative_error(const Tensor& y, const Tensor& r) {
  const Tensor a = convert(y, DataType::float64), b = convert(r, DataType::float64);
  ENSURE(a.size() == b.size(), "relative_error: sizes differ");
  double difference = 0, largest = 0;
  const auto p = a.data<double>(), q = b.data<double>();
  for (size_t i = 0; i < p.size(); ++i) {
    if (p[i] == q[i] || (std::isnan(p[i]) && std::isnan(q[i]))) {
      if (std::isfinite(q[i])) largest = std::max(largest, std::abs(q[i]));
      continue;
    }
    const double d = std::abs(p[i] - q[i]);
    if (!std::isfinite(d)) return std::numeric_limits<double>::infinity();
    difference = std::max(difference, d);
    largest = std::max(largest, std::abs(q[i]));
  }
  return largest > 0 ? difference / largest : difference;
}

}  // namespace enginery
