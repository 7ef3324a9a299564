// One launch of a compiled kernel. Where: KernelSource, for every launch of a prepared tactic.
//
// A kernel that waits for its predecessors itself (await_predecessors() of text/common.cuh) may be
// on the device before they end: its launch overhead and the copies of its first weights then run
// beside their last blocks. A programmatic edge takes 0.3 to 0.4 us off a kernel of a graph on an
// H200 (made-up kernels; PTX ISA, griddepcontrol). Engines have not been run with them on a GPU, so
// they are there for who asks: ENGINERY_EARLY_LAUNCH=on.
#pragma once

#include <array>

#include "engine/device/cuda/driver.h"

namespace enginery {

struct LaunchShape {
  std::array<unsigned, 3> grid;  // blocks
  unsigned threads;              // of a block
  unsigned shared_bytes;         // dynamic
};

// `parameters`: as cuLaunchKernel takes them. `awaits`: the kernel waits for its predecessors
// itself. Then, and where `stream` is being captured and the last thing captured is a kernel, the
// graph's edge between the two is a programmatic one; otherwise the launch is an ordinary one.
Status launch_kernel(const Driver& driver, CUfunction function, const LaunchShape& shape,
                     CUstream stream, void** parameters, bool awaits);

}  // namespace enginery
