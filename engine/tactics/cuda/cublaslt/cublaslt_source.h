// Tactic source `cublaslt`: matrix products and 1x1 convolutions with bias, residual and ReLU in
// the epilogue.
#pragma once

#include "engine/device/cuda/cuda_device.h"
#include "engine/tactics/tactic.h"

namespace enginery {

// `device` outlives the source. Errors: unavailable (no cuBLASLt on this machine).
Result<std::unique_ptr<TacticSource>> make_cublaslt_source(CudaDevice& device);

}  // namespace enginery
