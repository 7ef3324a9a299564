// What the launches of a kernel plan must keep to on every SM.
//
// Where: plan_kernel() refuses a plan beyond them, and offer_kernels() leaves its tactic out, so
// that neither an untuned nor a provisional engine holds a kernel that cannot be launched or that
// would count past 32 bits. Threads: pure functions.
#pragma once

#include "engine/tactics/cuda/kernel/kernel_plan.h"
#include "engine/tactics/tactic.h"

namespace enginery {

// Bytes that a tactic of ours may want beside its tensors: what cuDNN's plans may want, too.
inline constexpr int64_t kMaxKernelWorkspace = int64_t{256} << 20;

// Blocks along y and z, and along x: CUDA C programming guide, technical specifications (all
// compute capabilities).
inline constexpr unsigned kMaxGridYZ = 65535, kMaxGridX = 0x7fffffff;

// Can a problem reach a limit at all? False for nearly all, whose plans need not be made to be
// offered.
bool may_exceed_limits(const Problem& problem);

// Every tensor as the tactic stores it (with padded channels) has fewer than 2^31 elements, every
// launch has a grid that SMs take and fewer than 2^32 threads along x, which kernels count in 32
// bits, and the workspace is within kMaxKernelWorkspace. Errors: unsupported, with the limit.
Status require_launchable(const Problem& problem, const Tactic& tactic, const KernelPlan& plan);

}  // namespace enginery
