// Arguments of resample.cuh, and the rows of its tables.
//
// Read by the host and by the kernel's text; engine files hold code that reads them, so a field is
// never moved.
#pragma once

#include "engine/tactics/cuda/kernel/text/args.h"

#ifndef ENGINERY_KERNEL_TEXT
namespace enginery::gpu {
#endif

// What an index of a sampled dimension reads: elements from the start of the dimension, and its
// weight.
struct ResampleTap {
  int at;
  float weight;
};
struct ResampleArgs {
  const void* x;
  const ResampleTap* taps;
  const float* outside;  // one number
  void* y;
  unsigned total;  // threads with work
};

#ifndef ENGINERY_KERNEL_TEXT
}  // namespace enginery::gpu
#endif
