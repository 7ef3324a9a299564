// Arguments of conv_mma.cuh and conv_wgmma.cuh where two products are one kernel (joined.h).
//
// Read by the host and by the kernels' text; engine files hold code that reads them, so a field is
// never moved.
#pragma once

#include "engine/tactics/cuda/kernel/text/args.h"

#ifndef ENGINERY_KERNEL_TEXT
namespace enginery::gpu {
#endif

// The second product has the outputs, the epilogue and the weights: in each row of w those of the
// first stand before its own. Of the first: x, its sizes and steps, and where its results are
// rounded to 8 bits before they are added, a factor and a bias for each channel as operands of its
// epilogue.
struct JoinedConvArgs {
  ConvArgs first, second;
};

#ifndef ENGINERY_KERNEL_TEXT
}  // namespace enginery::gpu
#endif
