// Arguments of conv_pool.cuh.
//
// Read by the host and by the kernel's text; engine files hold code that reads them, so a field is
// never moved.
#pragma once

#include "engine/tactics/cuda/kernel/text/args.h"

#ifndef ENGINERY_KERNEL_TEXT
namespace enginery::gpu {
#endif

struct ConvPoolArgs {
  const void* x;
  const void* w;
  void* y;
  EpilogueArgs epilogue;
  int h, width;  // of the picture
  int k, ldy;    // channels of the output, with their padding
  Divisor by_tiles_k, by_across, by_strips;
  const float* scale;  // of the picture, where it comes in float32 and is multiplied as bytes
};

#ifndef ENGINERY_KERNEL_TEXT
}  // namespace enginery::gpu
#endif
