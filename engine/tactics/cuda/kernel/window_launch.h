// What depthwise convolution and pooling share on the host: windows that slide over channels-last
// tensors and keep channels apart.
//
// Where: called by the plans of depthwise and pool. Threads: pure functions.
#pragma once

#include "engine/tactics/cuda/kernel/kernel_family.h"

namespace enginery {

// Sizes, strides, pads and the divisor of p; strips, vectors and threads are the kernel's own.
gpu::WindowArgs window_args(const ConvShape& shape);

// The pointers x and y.
std::vector<PointerSlot> window_slots();

// lower_conv_epilogue(), for kernels that know an image by n. Errors: its own; unsupported (a
// factor for each image where n counts planes).
Result<LoweredEpilogue> lower_window_epilogue(const Problem& problem, const ConvShape& shape,
                                              DataType type);

// Bytes that x and y take in `type`, with their padding.
double window_bytes(const ConvShape& shape, DataType type);

}  // namespace enginery
