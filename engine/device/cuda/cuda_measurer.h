// The GPU as a measuring instrument: CUDA events around a recorded command list, and the state that
// NVML reports with each sample.
//
// A list is enqueued behind a kernel that waits 40 us, and longer for a list of many operations, so
// that its launches are there before the first event is reached and no gap of the host is timed.
// Belongs to one thread at a time, as every Measurer does.
#pragma once

#include "engine/device/cuda/cuda_device.h"
#include "engine/device/measurer.h"

namespace enginery {

class CudaMeasurer final : public Measurer {
  struct MakeKey {
    explicit MakeKey() = default;
  };

 public:
  // `nvml` may be null: then the state reads as zeros.
  static Result<std::unique_ptr<Measurer>> create(CudaDevice& device, std::unique_ptr<Nvml> nvml,
                                                  const std::string& pci_bus);
  // For create() alone.
  CudaMeasurer(MakeKey, CudaDevice& device) : device_(device) {}
  ~CudaMeasurer() override;
  Result<double> time_us(Stream& stream, CommandList& list) override;
  // Events resolve half a microsecond: a part in 400.
  double min_resolvable_us() const override { return 200; }
  // Addresses decide which slices of the L2 cache serve a kernel: single kernels of cuDNN vary by
  // 14 %.
  int placements() const override { return 16; }
  // Twice the L2 cache: lines are placed by a hash, and some outlive one pass.
  int64_t sweep_bytes() const override { return 2 * device_.info().cache_bytes; }
  // One call of NVML; empty without it.
  std::optional<uint64_t> throttle_bits() override;
  // As NVML reads it now; zeros where it cannot. "Nothing runs" counts as no throttling.
  DeviceState state() override;

 private:
  CudaDevice& device_;
  std::unique_ptr<Nvml> nvml_;
  NvmlHandle handle_ = nullptr;
  CUevent begin_ = nullptr, end_ = nullptr;
  CUmodule module_ = nullptr;
  CUfunction wait_ = nullptr;
};

}  // namespace enginery
