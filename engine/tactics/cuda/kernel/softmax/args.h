// Arguments of softmax.cuh: rows of `size` elements, `inner` elements apart.
//
// Read by the host and by the kernel's text; engine files hold code that reads them, so a field is
// never moved.
#pragma once

#include "engine/tactics/cuda/kernel/text/args.h"

#ifndef ENGINERY_KERNEL_TEXT
namespace enginery::gpu {
#endif

// Rows of `size` elements, `inner` apart, for softmax and reductions.
struct SoftmaxArgs {
  const void* x;
  void* y;
  int outer, size, inner;
};

#ifndef ENGINERY_KERNEL_TEXT
}  // namespace enginery::gpu
#endif
