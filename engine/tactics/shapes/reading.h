// What every reader of problems shares: refusals with their reason, conditions that most sources
// have, sizes, and the formats in which GPU code keeps tensors.
//
// Where: below the readers of this folder and the sources of cuda/. Threads: pure functions.
#pragma once

#include <algorithm>
#include <string>

#include "engine/tactics/tactic.h"
#include "engine/tensor/symmetric_int8.h"

namespace enginery {

// The reason why a problem is not served, as an `unsupported` error: the next family or source is
// asked.
Error refusal(const std::string& reason);

// Every present tensor has sizes that are known now, and fewer elements than GPU indices (31 bits)
// count. Errors: unsupported.
Status require_static(const Problem& problem);

inline int64_t divide_up(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}
inline int64_t round_up(int64_t a, int64_t b) {
  return divide_up(a, b) * b;
}

// Whether each of them is `value`.
inline bool all_are(const std::vector<int64_t>& values, int64_t value) {
  return std::ranges::all_of(values, [&](int64_t v) { return v == value; });
}

// Channels-last tensors of GPUs pad their channels to multiples of 8: 16 bytes of float16, what
// copies and matrix instructions want.
inline int64_t padded_to_8(int64_t channels) {
  return round_up(channels, 8);
}
// Those of 8 bits: the same 16 bytes.
inline constexpr int64_t kByteChannels = 16;
// To what channels of that type are padded.
inline int64_t channel_block(DataType type) {
  return is_eight_bits(type) ? kByteChannels : 8;
}
// Channels-last with channels padded to a multiple of `block` where they are none already.
Format channels_last_format(DataType type, int64_t channels, int64_t block = 8);

// Strides in elements of a tensor stored in `layout` (linear or channels last), in its logical
// order of dimensions.
Dims layout_strides(const Dims& dims, const Layout& layout);

// The precision of kernels that store tensors as `type` and compute in float32.
Precision precision_of_storage(DataType type);
// The type in which kernels that compute so store tensors.
DataType storage_of_precision(Precision precision);
// Of two types the less precise one's.
Precision precision_of_storage(DataType a, DataType b);

}  // namespace enginery
