// Arguments of batched_gemm.cuh.
//
// Read by the host and by the kernel's text; engine files hold code that reads them, so a field is
// never moved.
#pragma once

#include "engine/tactics/cuda/kernel/text/args.h"

#ifndef ENGINERY_KERNEL_TEXT
namespace enginery::gpu {
#endif

// y[batch][m, n] = alpha * sum over k of a[a_place(batch) + m * am + k * ak] * b[b_place(batch) + k
// * bk + n * bn].
struct GemmArgs {
  const void* a;
  const void* b;
  void* y;
  EpilogueArgs epilogue;
  int m, n, k;
  int tiles_m, tiles_n;
  int am, ak, bk, bn;
  float alpha;
};

#ifndef ENGINERY_KERNEL_TEXT
}  // namespace enginery::gpu
#endif
