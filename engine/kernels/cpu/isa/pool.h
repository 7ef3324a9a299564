// Max and average pooling, channels-last or plane by plane.
//
// Filled by engine/tactics/cpu/kernel/pool.cpp, which knows the problem; the kernel checks nothing.
#pragma once

#include <cstdint>

namespace enginery {

// Pooling of `n` images, two spatial dimensions (one: height 1). pool reads them channels-last,
// pool_planes as `n` * `channels` planes one after the other. An average divides by the window's
// places inside the image, or with count_padding inside its stated padding too; a maximum takes the
// places inside. `in` and `out` are different storages.
struct PoolArguments {
  const void* in;
  void* out;
  int64_t n, channels, in_h, in_w, out_h, out_w;
  int64_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w, pad_h,
      pad_w;                     // padding before
  int64_t pad_end_h, pad_end_w;  // padding after, as the operator states it (for the divisor)
  bool average, count_padding;
  float low, high;              // bounds of a fused clip; infinite: none
  int64_t in_pixel, out_pixel;  // pool: values from one pixel to the next
  bool narrow;                  // pool: of bfloat16 values
};

// Floats of one row, or a piece of it, that pool_planes has at hand: a window spans fewer.
constexpr int64_t kPoolRow = 2048;

}  // namespace enginery
