// Tactic source `cudnn`: convolutions with fused pointwise steps, NHWC, through cuDNN 9's backend
// API.
#pragma once

#include "engine/device/cuda/cuda_device.h"
#include "engine/tactics/tactic.h"

namespace enginery {

// `device` outlives the source. Errors: unavailable (no cuDNN 9 on this machine).
Result<std::unique_ptr<TacticSource>> make_cudnn_source(CudaDevice& device);

}  // namespace enginery
