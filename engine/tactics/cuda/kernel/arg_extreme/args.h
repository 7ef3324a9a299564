// Arguments of arg_extreme.cuh.
//
// Read by the host and by the kernel's text; engine files hold code that reads them, so a field is
// never moved.
#pragma once

#include "engine/tactics/cuda/kernel/text/args.h"

#ifndef ENGINERY_KERNEL_TEXT
namespace enginery::gpu {
#endif

// y[o * inner + i] = the place of the extreme among x[(o * size + s) * inner + i], s < size.
struct ArgExtremeArgs {
  const void* x;
  long long* y;
  unsigned outputs;  // outer * inner
  unsigned size, inner;
};

#ifndef ENGINERY_KERNEL_TEXT
}  // namespace enginery::gpu
#endif
