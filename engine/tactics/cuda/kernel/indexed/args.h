// Arguments of indexed.cuh.
//
// Read by the host and by the kernel's text; engine files hold code that reads them, so a field is
// never moved.
#pragma once

#include "engine/tactics/cuda/kernel/text/args.h"

#ifndef ENGINERY_KERNEL_TEXT
namespace enginery::gpu {
#endif

struct IndexedArgs {
  const void* data;
  const void* indices;
  const void* updates;  // of a scatter, as is `winners`
  void* y;
  int* winners;      // for each place the last update that meets it; -1: none
  unsigned total;    // elements of the output
  unsigned tuples;   // of indices
  unsigned places;   // of `winners`
  Divisor by_slice;  // elements that a tuple addresses
};

#ifndef ENGINERY_KERNEL_TEXT
}  // namespace enginery::gpu
#endif
