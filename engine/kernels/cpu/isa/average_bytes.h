// Averages of 8-bit integers over windows, as integers of another scale or as float32,
// channels-last.
//
// Filled by engine/tactics/cpu/kernel/average_bytes.cpp, which knows the problem; the kernel checks
// nothing.
#pragma once

#include <cstdint>

namespace enginery {

// For each window of `n` channels-last images, two spatial dimensions (one: height 1):
//   v = sum of (in - zero) over the places inside the image * factor / places,
// where padding counts as a place with count_padding, up to what is stated. The sum is exact in
// int32: of at most 2^22 places. `out` gets v, or with `to_bytes`
// clip(round_half_even(v) + result_zero, low, high), where low and high are within the result's
// type. `in` and `out` are different storages.
struct AverageBytesArguments {
  const void* in;
  void* out;
  int64_t n, channels, in_h, in_w, out_h, out_w;
  int64_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w, pad_h,
      pad_w;                     // padding before
  int64_t pad_end_h, pad_end_w;  // padding after, as the operator states it (for the divisor)
  bool count_padding, is_signed;
  int32_t zero;
  float factor;
  bool to_bytes, result_signed;
  float result_zero, low, high;
};

}  // namespace enginery
