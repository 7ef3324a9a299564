// Arguments of cum_sum.cuh.
//
// Read by the host and by the kernel's text; engine files hold code that reads them, so a field is
// never moved.
#pragma once

#include "engine/tactics/cuda/kernel/text/args.h"

#ifndef ENGINERY_KERNEL_TEXT
namespace enginery::gpu {
#endif

struct CumSumArgs {
  const void* x;
  void* y;
  unsigned lines, size, inner;  // elements within the dimension that is summed along
};

#ifndef ENGINERY_KERNEL_TEXT
}  // namespace enginery::gpu
#endif
