// Arguments of gather.cuh.
//
// Read by the host and by the kernel's text; engine files hold code that reads them, so a field is
// never moved.
#pragma once

#include "engine/tactics/cuda/kernel/text/args.h"

#ifndef ENGINERY_KERNEL_TEXT
namespace enginery::gpu {
#endif

// y[o][i][j] = data[o][indices[i]][j]; units of one size.
struct GatherArgs {
  const void* data;
  const void* indices;
  void* y;
  int total, size;
  Divisor by_inner, by_count;
};

#ifndef ENGINERY_KERNEL_TEXT
}  // namespace enginery::gpu
#endif
