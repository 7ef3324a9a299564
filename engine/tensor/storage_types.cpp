#include "engine/tensor/storage_types.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "engine/base/parallel.h"

namespace enginery {
namespace {

constexpr uint8_t kSign = 0x80;
constexpr int64_t kStoragePiece = 1 << 20;  // elements converted by one thread at a time
constexpr Float8Format kE4M3Fn = {3, 7, 0x7e, 0, 0x7f, true};
constexpr Float8Format kE4M3FnUz = {3, 8, 0x7f, 0, 0x80, false};
constexpr Float8Format kE5M2 = {2, 15, 0x7b, 0x7c, 0x7f, true};
constexpr Float8Format kE5M2FnUz = {2, 16, 0x7f, 0, 0x80, false};

uint8_t rounded_to_4_bits(double value, DataType type) {
  if (std::isnan(value)) return 0;
  const double least = type == DataType::int4 ? -8 : 0, most = least + 15;
  return low_4_bits(static_cast<int64_t>(std::clamp(std::nearbyint(value), least, most)), type);
}

// f(element) of every element of `from`, which are Ts, as the elements of `out`, which are Us.
template <typename T, typename U, typename F>
Tensor mapped(const Tensor& from, DataType type, F&& f) {
  Tensor out(type, from.dims());
  const auto* in = static_cast<const T*>(from.raw());
  auto* to = static_cast<U*>(out.mutable_bytes());
  parallel_ranges(from.size(), kStoragePiece, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) to[i] = f(in[i]);
  });
  return out;
}

Tensor widen_4_bits(const Tensor& tensor) {
  const DataType type = tensor.type();
  const DataType wide = type == DataType::int4 ? DataType::int8 : DataType::uint8;
  return mapped<uint8_t, uint8_t>(tensor, wide, [&](uint8_t v) { return low_4_bits(v, type); });
}

}  // namespace

const Float8Format& float8_format(DataType type) {
  switch (type) {
    case DataType::float8e4m3fn:
      return kE4M3Fn;
    case DataType::float8e4m3fnuz:
      return kE4M3FnUz;
    case DataType::float8e5m2:
      return kE5M2;
    default:
      ENSURE(type == DataType::float8e5m2fnuz, "float8_format: not an 8-bit float");
      return kE5M2FnUz;
  }
}

float from_float8(uint8_t code, const Float8Format& format) {
  const uint8_t magnitude = code & 0x7f;
  const float sign = code & kSign ? -1.0f : 1.0f;
  if (format.infinity != 0 && magnitude == format.infinity)
    return sign * std::numeric_limits<float>::infinity();
  const bool is_nan = format.has_negative_zero ? magnitude > format.largest : code == format.nan;
  if (is_nan) return std::numeric_limits<float>::quiet_NaN();
  const int exponent = magnitude >> format.mantissa_bits;
  const int fraction = magnitude & ((1 << format.mantissa_bits) - 1);
  const int implicit = exponent > 0 ? 1 << format.mantissa_bits : 0;
  const int scale = std::max(exponent, 1) - format.bias - format.mantissa_bits;
  return sign * std::ldexp(static_cast<float>(fraction + implicit), scale);
}

uint8_t to_float8(double value, const Float8Format& format, Overflow overflow) {
  const uint8_t sign = std::signbit(value) ? kSign : 0;
  if (std::isnan(value)) return format.nan | sign;
  int magnitude = std::numeric_limits<int>::max();
  if (std::abs(value) < 0x1p20) {
    // In units of the last place of its binade, or of the subnormal numbers' below. A carry out of
    // the mantissa goes on into the exponent.
    const int exponent =
        value == 0 ? 1 - format.bias : std::max(std::ilogb(value), 1 - format.bias);
    const double units = std::ldexp(std::abs(value), format.mantissa_bits - exponent);
    magnitude = ((exponent + format.bias - 1) << format.mantissa_bits) +
                static_cast<int>(std::nearbyint(units));
  }
  if (magnitude > format.largest) {
    if (overflow == Overflow::saturate) return format.largest | sign;
    return (format.infinity != 0 ? format.infinity : format.nan) | sign;
  }
  if (magnitude == 0 && !format.has_negative_zero) return 0;
  return static_cast<uint8_t>(magnitude) | sign;
}

uint8_t low_4_bits(int64_t value, DataType type) {
  const auto low = static_cast<uint8_t>(value & 15);
  return type == DataType::int4 && low > 7 ? low | 0xf0 : low;
}

bool is_float8(DataType type) {
  return is_storage_only(type) && !is_4_bit_integer(type);
}

bool is_4_bit_integer(DataType type) {
  return type == DataType::int4 || type == DataType::uint4;
}

Tensor widen_storage(const Tensor& tensor) {
  if (is_4_bit_integer(tensor.type())) return widen_4_bits(tensor);
  const Float8Format& format = float8_format(tensor.type());
  std::array<float, 256> numbers;
  for (size_t code = 0; code < numbers.size(); ++code)
    numbers[code] = from_float8(static_cast<uint8_t>(code), format);
  return mapped<uint8_t, float>(tensor, DataType::float32, [&](uint8_t v) { return numbers[v]; });
}

Tensor narrow_to_storage(const Tensor& tensor, DataType to, Overflow overflow) {
  if (!is_4_bit_integer(to)) {
    const Float8Format& format = float8_format(to);
    return mapped<double, uint8_t>(convert(tensor, DataType::float64), to,
                                   [&](double v) { return to_float8(v, format, overflow); });
  }
  if (!is_floating(tensor.type())) {
    return mapped<int64_t, uint8_t>(convert(tensor, DataType::int64), to,
                                    [&](int64_t v) { return low_4_bits(v, to); });
  }
  return mapped<double, uint8_t>(convert(tensor, DataType::float64), to,
                                 [&](double v) { return rounded_to_4_bits(v, to); });
}

}  // namespace enginery
