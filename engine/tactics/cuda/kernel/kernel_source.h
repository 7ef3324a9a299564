// Tactic source `kernel`: our own kernels, compiled for the exact SM. Needs NVRTC to compile, and
// the driver alone to run code that was compiled before; a device that is not here can be compiled
// for.
//
// Where: the first source of a GPU (sources.cpp); the conformance tests and benchmarks make it with
// other options. Threads: as every source.
#pragma once

#include "engine/device/cuda/cuda_device.h"
#include "engine/kernels/cuda/compiler.h"
#include "engine/tactics/cuda/kernel/kernel_family.h"

namespace enginery {

struct KernelSourceOptions {
  bool every_variant = false;          // offer also what the analytic model rules out
  CodeKind kind = CodeKind::cubin;     // ptx: what an older card gets, to be tested on a newer one
  int compute_capability = 0;          // of the code; 0: the device's own
  std::shared_ptr<KernelCache> cache;  // compiled objects between processes; may be null
  std::vector<KernelFamily> more_families = {};  // after those of families.h
};

// `device` outlives the source.
Result<std::unique_ptr<TacticSource>> make_kernel_source(CudaDevice& device,
                                                         const KernelSourceOptions& options = {});

// Tactics of every family, likely best first. Needs no device. Errors: unsupported with the
// families' reasons.
Result<std::vector<Tactic>> offer_kernels(const Problem& problem, const KernelContext& context,
                                          bool every_variant);

// The plan of a tactic that offer_kernels gave. Errors: incompatible (no such tactic), unsupported
// (a launch beyond launch_limits.h).
Result<KernelPlan> plan_kernel(const Problem& problem, const Tactic& tactic,
                               const KernelContext& context);

}  // namespace enginery
