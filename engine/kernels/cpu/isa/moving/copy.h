// Strided copies of any element type.
//
// Filled by engine/tactics/cpu/kernel/copy.cpp, which knows the problem; the kernel checks nothing.
#pragma once

#include <cstdint>

namespace enginery {

constexpr int kMaxCopyLoops = 10;

// out[sum(i * out_stride)] = in[sum(i * in_stride)] over all loops, outermost first; strides in
// elements, of any sign, so that `in` and `out` are the elements of index 0, not the lowest
// addresses. The storages do not overlap. Fastest where the innermost loop runs along the output
// and some loop along the input, both in steps of one.
struct CopyLoop {
  int64_t extent, in_stride, out_stride;
};

struct CopyArguments {
  const void* in;
  void* out;
  int element_bytes;  // 1, 2, 4 or 8
  int loops;          // at least 1; simplified by simplify_copy
  CopyLoop loop[kMaxCopyLoops];
};

}  // namespace enginery
