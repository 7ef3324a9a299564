// Arguments of copy.cuh: one box of elements between strided places.
//
// Read by the host and by the kernel's text; engine files hold code that reads them, so a field is
// never moved.
#pragma once

#include "engine/tactics/cuda/kernel/text/args.h"

#ifndef ENGINERY_KERNEL_TEXT
namespace enginery::gpu {
#endif

// out[out_base + index * out_strides] = in[in_base + index * in_strides] over up to 6 dimensions,
// innermost last.
struct CopyArgs {
  const void* x;
  void* y;
  long long in_base, out_base;
  long long in_stride[6], out_stride[6];
  Divisor by[6];
  int total;
};

#ifndef ENGINERY_KERNEL_TEXT
}  // namespace enginery::gpu
#endif
