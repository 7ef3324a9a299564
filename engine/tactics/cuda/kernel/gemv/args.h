// Arguments of gemv.cuh: a matrix times few vectors.
//
// Read by the host and by the kernel's text; engine files hold code that reads them, so a field is
// never moved.
#pragma once

#include "engine/tactics/cuda/kernel/text/args.h"

#ifndef ENGINERY_KERNEL_TEXT
namespace enginery::gpu {
#endif

// Matrix times few vectors: y[m, k] = sum over c of x[m, c] * w[k, c].
struct GemvArgs {
  const void* x;
  const void* w;
  void* y;
  EpilogueArgs epilogue;
  int m, k, c, ldx, ldy;
};

#ifndef ENGINERY_KERNEL_TEXT
}  // namespace enginery::gpu
#endif
