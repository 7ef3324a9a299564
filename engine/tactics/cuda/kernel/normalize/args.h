// Arguments of normalize.cuh.
//
// Read by the host and by the kernel's text; engine files hold code that reads them, so a field is
// never moved.
#pragma once

#include "engine/tactics/cuda/kernel/text/args.h"

#ifndef ENGINERY_KERNEL_TEXT
namespace enginery::gpu {
#endif

struct NormalizeArgs {
  const void* x;
  void* y;
  const float* scale;
  const float* bias;  // null where there is none
  EpilogueArgs epilogue;
  unsigned rows;
  float epsilon;
  int ldy;  // the output's last dimension
};

#ifndef ENGINERY_KERNEL_TEXT
}  // namespace enginery::gpu
#endif
