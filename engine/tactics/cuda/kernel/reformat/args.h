// Arguments of reformat.cuh.
//
// Read by the host and by the kernel's text; engine files hold code that reads them, so a field is
// never moved.
#pragma once

#include "engine/tactics/cuda/kernel/text/args.h"

#ifndef ENGINERY_KERNEL_TEXT
namespace enginery::gpu {
#endif

// Changes between [n][c][pixels] and [n][pixels][padded c].
struct ReformatArgs {
  const void* x;
  void* y;
  int n, c, pixels, pitch;  // pitch: padded c
  int total;
  Divisor by_pixels, by_vectors;
};

#ifndef ENGINERY_KERNEL_TEXT
}  // namespace enginery::gpu
#endif
