// Tactic source `reference` on a GPU: the operator's CPU reference as a host step inside the
// stream, with copies to and from pinned memory around it. Runs in recorded sequences too. The last
// resort: for operators without a kernel.
#pragma once

#include "engine/device/cuda/cuda_device.h"
#include "engine/tactics/tactic.h"

namespace enginery {

// `device` outlives the source.
Result<std::unique_ptr<TacticSource>> make_host_step_source(CudaDevice& device);

}  // namespace enginery
