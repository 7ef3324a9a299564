// One launch of a compiled kernel. Where: KernelSource, for every launch of a prepared tactic.
//
// A kernel that waits for its predecessors itself (await_predecessors() of text/common.cuh) may be
// on the device before they end: its launch overhead and the copies of its first weights then run
// beside their last blocks (PTX ISA, griddepcontrol). On an H200 DeiT-tiny takes 8 % less time so,
// GoogLeNet 7 %, SqueezeNet as long; results are the same to the last bit.
// ENGINERY_EARLY_LAUNCH=off gives ordinary edges.
//
// A kernel of ours also lets its successor begin early, whoever launches that one, and cuDNN's
// kernels take that up (9.14, Hopper). The two together went wrong on an H200: ECA-ResNet-26t in
// float16 was off by more than its largest element, differently in each run; with ordinary edges
// everywhere it was right, and without cuDNN, too. With ordinary edges behind cuDNN's kernels alone
// it was not. So begin_after_all() stands before and behind them: the network then gave the same
// bytes in nine runs of three builds in either precision.
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

// What the stream captures next begins when everything before it has ended, even where it is
// launched with an attribute that allows less. Nothing where the stream is not being captured, or
// where no programmatic edge can come of it.
Status begin_after_all(const Driver& driver, CUstream stream);

}  // namespace enginery
