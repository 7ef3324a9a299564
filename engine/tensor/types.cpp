#include "enginery/types.h"

#include <array>
#include <charconv>

namespace enginery {
namespace {

enum class TypeKind { floating, integer, boolean, storage_only };
struct TypeRow {
  std::string_view name;
  int64_t bytes;
  TypeKind kind;
};
// THE table of element types, in DataType's order.
constexpr std::array<TypeRow, kDataTypeCount> kTypes = {{
    {"float32", 4, TypeKind::floating},
    {"float16", 2, TypeKind::floating},
    {"bfloat16", 2, TypeKind::floating},
    {"float64", 8, TypeKind::floating},
    {"int8", 1, TypeKind::integer},
    {"uint8", 1, TypeKind::integer},
    {"int16", 2, TypeKind::integer},
    {"uint16", 2, TypeKind::integer},
    {"int32", 4, TypeKind::integer},
    {"uint32", 4, TypeKind::integer},
    {"int64", 8, TypeKind::integer},
    {"uint64", 8, TypeKind::integer},
    {"boolean", 1, TypeKind::boolean},
    {"float8e4m3fn", 1, TypeKind::storage_only},
    {"float8e4m3fnuz", 1, TypeKind::storage_only},
    {"float8e5m2", 1, TypeKind::storage_only},
    {"float8e5m2fnuz", 1, TypeKind::storage_only},
    {"int4", 1, TypeKind::storage_only},
    {"uint4", 1, TypeKind::storage_only},
}};
constexpr std::array<std::string_view, 5> kPrecisions = {"fp32", "tf32", "fp16", "bf16", "int8"};
constexpr int64_t kMaxTensorBytes = int64_t{1} << 40;

TypeKind kind_of(DataType type) {
  return kTypes[static_cast<size_t>(type)].kind;
}

}  // namespace

int64_t element_bytes(DataType type) {
  return kTypes[static_cast<size_t>(type)].bytes;
}
std::string_view to_string(DataType type) {
  return kTypes[static_cast<size_t>(type)].name;
}

Result<DataType> parse_data_type(std::string_view text) {
  for (size_t i = 0; i < kTypes.size(); ++i) {
    if (kTypes[i].name == text) return static_cast<DataType>(i);
  }
  return Error{ErrorCode::invalid_argument, "'" + std::string(text) + "' is not an element type"};
}

std::string_view to_string(Precision precision) {
  return kPrecisions[static_cast<size_t>(precision)];
}

Result<Precision> parse_precision(std::string_view text) {
  for (size_t i = 0; i < kPrecisions.size(); ++i) {
    if (kPrecisions[i] == text) return static_cast<Precision>(i);
  }
  return Error{ErrorCode::usage,
               "'" + std::string(text) + "' is not a precision (fp32, tf32, fp16, bf16, int8)"};
}

bool is_floating(DataType type) {
  return kind_of(type) == TypeKind::floating;
}
bool is_integer(DataType type) {
  return kind_of(type) == TypeKind::integer;
}
bool is_storage_only(DataType type) {
  return kind_of(type) == TypeKind::storage_only;
}

bool is_static(const Dims& dims) {
  for (const int64_t d : dims) {
    if (d < 0) return false;
  }
  return true;
}

int64_t volume(const Dims& dims) {
  int64_t n = 1;
  for (const int64_t d : dims) n *= d;
  return n;
}

Result<int64_t> checked_volume(const Dims& dims, int64_t bytes_per_element) {
  int64_t n = 1;
  bool empty = false;
  for (const int64_t d : dims) {
    if (d < 0) return Error{ErrorCode::invalid_argument, "negative size in " + to_string(dims)};
    empty |= d == 0;
    // Also where another size is 0: code that multiplies only some of the sizes must not overflow.
    if (d != 0 && (__builtin_mul_overflow(n, d, &n) || n > kMaxTensorBytes / bytes_per_element)) {
      return Error{ErrorCode::invalid_argument,
                   "a tensor of " + to_string(dims) + " elements is larger than 2^40 bytes"};
    }
  }
  if (empty) return int64_t{0};
  return n;
}

std::string to_string(const Dims& dims) {
  if (dims.empty()) return "scalar";
  std::string out;
  for (const int64_t d : dims) {
    if (!out.empty()) out += 'x';
    out += d < 0 ? "?" : std::to_string(d);
  }
  return out;
}

Result<Dims> parse_dims(std::string_view text) {
  Dims dims;
  if (text == "scalar" || text.empty()) return dims;
  const char* at = text.data();
  const char* end = at + text.size();
  while (true) {
    int64_t d = kDynamic;
    if (at != end && *at == '?') {
      ++at;
    } else {
      const auto [next, error] = std::from_chars(at, end, d);
      if (error != std::errc() || d < 0) break;
      at = next;
    }
    dims.push_back(d);
    if (at == end) return dims;
    if (*at++ != 'x') break;
  }
  return Error{ErrorCode::invalid_argument,
               "'" + std::string(text) + "' is not a shape (expected e.g. 1x3x224x224)"};
}

std::string to_string(const TensorType& type) {
  return std::string(to_string(type.type)) + "[" + to_string(type.dims) + "]";
}

}  // namespace enginery
