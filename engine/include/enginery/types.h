// Element types and dimensions of tensors: the vocabulary shared by the public API and every layer
// below it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "enginery/result.h"

namespace enginery {

// What one element is. The numbers and names are stored in engines and keys: add at the end, and to
// kDataTypeCount.
enum class DataType : uint8_t {
  float32,
  float16,
  bfloat16,
  float64,
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  boolean,
  float8e4m3fn,
  float8e4m3fnuz,
  float8e5m2,
  float8e5m2fnuz,
  int4,
  uint4
};
inline constexpr int kDataTypeCount = 19;

// Bytes of one element; boolean takes one byte, 0 or 1. A 4-bit integer takes one byte of its own,
// of which the low four bits count.
int64_t element_bytes(DataType type);
std::string_view to_string(DataType type);  // "float32", ...
// Errors: invalid_argument.
Result<DataType> parse_data_type(std::string_view text);
// The types that operators compute in.
bool is_floating(DataType type);
bool is_integer(DataType type);  // signed and unsigned; boolean is neither
// 8-bit floats and 4-bit integers: they are kept, moved, cast, quantised to and dequantised from;
// nothing else computes in them, and they are neither floating nor integer above.
bool is_storage_only(DataType type);

// Arithmetic that a user may allow; the tuner picks the fastest allowed one per layer ("weak
// typing").
enum class Precision : uint8_t { fp32, tf32, fp16, bf16, int8 };
std::string_view to_string(Precision precision);
// Errors: usage, naming the words that exist.
Result<Precision> parse_precision(std::string_view text);

// Sizes, outermost first; a rank-0 tensor (scalar) has none. A negative size is known only at run
// time: kDynamic is anonymous, -2 and below name a symbol of the graph (Graph::symbols), equal
// symbols are equal sizes.
using Dims = std::vector<int64_t>;
inline constexpr int64_t kDynamic = -1;

// Whether every size is known at build time.
bool is_static(const Dims& dims);
// Product of the sizes (1 for a scalar). Requires static dims that passed checked_volume.
int64_t volume(const Dims& dims);
// The same for untrusted sizes: invalid_argument when negative or when bytes of elements would pass
// 2^40.
Result<int64_t> checked_volume(const Dims& dims, int64_t bytes_per_element = 1);
// "1x3x224x224"; "?" for a run-time size, "scalar" for rank 0.
std::string to_string(const Dims& dims);
// Reads what to_string writes. Errors: invalid_argument.
Result<Dims> parse_dims(std::string_view text);

// What is known of a tensor before it has data.
struct TensorType {
  DataType type = DataType::float32;
  Dims dims;
  bool operator==(const TensorType&) const = default;
};
std::string to_string(const TensorType& type);  // "float32[1x3x224x224]"
// Requires static dims that passed checked_volume.
inline int64_t bytes_of(const TensorType& t) {
  return volume(t.dims) * element_bytes(t.type);
}

}  // namespace enginery
