// The place of the largest or smallest element along one dimension.
//
// Filled by engine/tactics/cpu/kernel/arg_extreme.cpp, which knows the problem; the kernel checks
// nothing.
#pragma once

#include <cstdint>

namespace enginery {

// out[o, i] = the s of the largest (or smallest) in[o, s, i], the first of equal ones or the last.
// A comparison with NaN never holds: it takes no place, and keeps the first.
enum class ArgExtremeElement : int { float32, int32, int64 };
struct ArgExtremeArguments {
  const void* in;
  int64_t* out;
  int64_t outer, size, inner;
  bool largest, last;
  ArgExtremeElement element;
};

}  // namespace enginery
