// Arguments of float64.cuh.
//
// Read by the host and by the kernel's text; engine files hold code that reads them, so a field is
// never moved.
#pragma once

#include "engine/tactics/cuda/kernel/text/args.h"

#ifndef ENGINERY_KERNEL_TEXT
namespace enginery::gpu {
#endif

struct Float64Args {
  const void* a;
  const void* b;  // of a binary operator
  void* out;
  unsigned total;
};

#ifndef ENGINERY_KERNEL_TEXT
}  // namespace enginery::gpu
#endif
