// DeviceConstants: the weights of one prepared tactic, packed as its kernel reads them, in one
// block on the GPU.
#pragma once

#include "engine/device/cuda/cuda_device.h"
#include "engine/tactics/cuda/kernel/kernel_plan.h"

namespace enginery {

class DeviceConstants {
 public:
  DeviceConstants() = default;  // none
  // Packs one after another and uploads them. Errors: out_of_memory, internal.
  static Result<DeviceConstants> pack(CudaDevice& device,
                                      const std::vector<PackConstant>& constants, Weights weights);
  // The same bytes at another address.
  Result<DeviceConstants> copy(CudaDevice& device) const;

  const void* address(size_t index) const {
    return static_cast<const char*>(memory_.data()) + offsets_[index];
  }
  int64_t bytes() const { return static_cast<int64_t>(memory_.bytes()); }

 private:
  DeviceMemory memory_;
  std::vector<size_t> offsets_;
};

}  // namespace enginery
