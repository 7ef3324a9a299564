// Arguments of lrn.cuh, and of vectors.cuh and planes.cuh.
//
// Read by the host and by the kernel's text; engine files hold code that reads them, so a field is
// never moved.
#pragma once

#include "engine/tactics/cuda/kernel/text/args.h"

#ifndef ENGINERY_KERNEL_TEXT
namespace enginery::gpu {
#endif

// Of lrn.cuh.
struct LrnArgs {
  const void* x;
  void* y;
  int total, c, size;
  float alpha, beta, bias;
  Divisor by_c;
};

// Of vectors.cuh and planes.cuh: y = x / (bias + scale * sum of squares)^beta.
struct LrnWindowArgs {
  const void* x;
  void* y;
  int total;     // vectors of channels, or threads with work
  int channels;  // without padding
  int inner;     // planes: elements from one channel to the next
  float scale, bias, beta;
  Divisor by_row;   // vectors of channels of a pixel, or vectors of pixels of a plane
  Divisor by_runs;  // planes: runs of channels of an image
};

#ifndef ENGINERY_KERNEL_TEXT
}  // namespace enginery::gpu
#endif
