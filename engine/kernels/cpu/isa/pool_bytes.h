// Max pooling of 8-bit integers, channels-last.
//
// Filled by engine/tactics/cpu/kernel/pool.cpp, which knows the problem; the kernel checks nothing.
#pragma once

#include <cstdint>

namespace enginery {

// Maximum over windows of `n` channels-last images, two spatial dimensions (one: height 1), of int8
// where `is_signed`, else of uint8. Places outside the image do not count; a window without any
// inside gives the least number. `in` and `out` are different storages.
struct PoolBytesArguments {
  const void* in;
  void* out;
  int64_t n, channels, in_h, in_w, out_h, out_w;
  int64_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w, pad_h,
      pad_w;  // padding before
  bool is_signed;
};

}  // namespace enginery
