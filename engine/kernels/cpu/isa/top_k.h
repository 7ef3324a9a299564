// The k largest or smallest along one dimension, sorted, with their places.
//
// Filled by engine/tactics/cpu/kernel/top_k.cpp, which knows the problem; the kernel checks
// nothing.
#pragma once

#include <cstdint>

namespace enginery {

enum class TopKType : int { float32, int32, int64 };

// For each lane of `in` [outer, size, inner] its k best, the best first, in `values` and `places`
// [outer, k, inner]. Of equal ones the first comes first; NaN is larger than any number. Requires
// 0 < k <= size < 2^32.
struct TopKArguments {
  const void* in;
  void* values;
  int64_t* places;
  int64_t outer, size, inner, k;
  TopKType type;
  bool largest;
  void* scratch;          // that of thread t of the team begins at t * scratch_bytes
  int64_t scratch_bytes;  // at least 5 * size elements' and a multiple of 64
};

}  // namespace enginery
