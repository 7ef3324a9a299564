// Arguments of reduce.cuh.
//
// Read by the host and by the kernel's text; engine files hold code that reads them, so a field is
// never moved.
#pragma once

#include "engine/tactics/cuda/kernel/text/args.h"

#ifndef ENGINERY_KERNEL_TEXT
namespace enginery::gpu {
#endif

// y[o] = reduction over i < reduced of x[kept_place(o) + reduced_place(i)]; both places are
// generated.
struct ReduceArgs {
  const void* x;
  void* y;
  EpilogueArgs epilogue;
  unsigned outputs, reduced;
  int ldy;  // the output's last dimension
};

#ifndef ENGINERY_KERNEL_TEXT
}  // namespace enginery::gpu
#endif
