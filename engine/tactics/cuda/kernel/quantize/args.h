// Arguments of quantize.cuh.
//
// Read by the host and by the kernel's text; engine files hold code that reads them, so a field is
// never moved.
#pragma once

#include "engine/tactics/cuda/kernel/text/args.h"

#ifndef ENGINERY_KERNEL_TEXT
namespace enginery::gpu {
#endif

// In order, element i has scale and zero point (i / inner) % size.
struct QuantizeArgs {
  const void* x;
  void* y;
  const float* scale;
  const float* zero;
  unsigned total, size, inner;
  int channels, x_pitch, y_pitch;  // of channels-last tensors: without and with their padding
  Divisor by_vectors, by_pixels;   // vectors of 8 channels of the output; pixels of an image
};

#ifndef ENGINERY_KERNEL_TEXT
}  // namespace enginery::gpu
#endif
