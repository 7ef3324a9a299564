// Arguments of top_k.cuh.
//
// Read by the host and by the kernel's text; engine files hold code that reads them, so a field is
// never moved.
#pragma once

#include "engine/tactics/cuda/kernel/text/args.h"

#ifndef ENGINERY_KERNEL_TEXT
namespace enginery::gpu {
#endif

struct TopKArgs {
  const void* x;
  void* values;
  long long* indices;
  unsigned size, k, inner;  // inner: elements within the dimension
  unsigned chunks;          // blocks for one line
};

#ifndef ENGINERY_KERNEL_TEXT
}  // namespace enginery::gpu
#endif
