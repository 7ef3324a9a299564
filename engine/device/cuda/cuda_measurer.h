// The GPU as a measuring instrument: CUDA events around a recorded sequence, and NVML's state
// beside each sample.
#pragma once

#include "engine/device/cuda/cuda_device.h"

namespace enginery {

class CudaMeasurer final : public Measurer {
 public:
  // `nvml` may be null: then the state reads as zeros.
  static Result<std::unique_ptr<Measurer>> create(CudaDevice& device, std::unique_ptr<Nvml> nvml,
                                                  const std::string& pci_bus);
  ~CudaMeasurer() override;
  Result<double> time_us(Stream& stream, CommandList& sequence) override;
  double least_unit_us() const override { return 200; }
  // Addresses decide which slices of the L2 cache serve a kernel: single kernels of cuDNN vary by
  // 14 %.
  int placements() const override { return 16; }
  DeviceState state() override;
  Status flush_caches(Stream& stream) override;

 private:
  explicit CudaMeasurer(CudaDevice& device) : device_(device) {}

  CudaDevice& device_;
  std::unique_ptr<Nvml> nvml_;
  NvmlHandle handle_ = nullptr;
  CUevent begin_ = nullptr, end_ = nullptr;
  CUmodule module_ = nullptr;
  CUfunction wait_ = nullptr;
  DeviceMemory flush_;
};

}  // namespace enginery
