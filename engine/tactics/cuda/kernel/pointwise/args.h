// Arguments of pointwise.cuh: element-wise over a flat range of storage.
//
// Read by the host and by the kernel's text; engine files hold code that reads them, so a field is
// never moved.
#pragma once

#include "engine/tactics/cuda/kernel/text/args.h"

#ifndef ENGINERY_KERNEL_TEXT
namespace enginery::gpu {
#endif

// Element-wise over a flat range of storage, ldy channels a pixel.
struct PointwiseArgs {
  EpilogueArgs operands;
  void* y;
  EpilogueArgs epilogue;
  int total, ldy;
  Divisor by_ldy, by_pixels;
  int x_pitch, y_pitch;  // READS_PITCHED, PITCHED: elements from one pixel to the next
};

#ifndef ENGINERY_KERNEL_TEXT
}  // namespace enginery::gpu
#endif
