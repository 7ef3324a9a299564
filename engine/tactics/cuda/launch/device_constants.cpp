#include "engine/tactics/cuda/launch/device_constants.h"

#include "engine/tactics/shapes/reading.h"

namespace enginery {

Result<DeviceConstants> DeviceConstants::pack(CudaDevice& device,
                                              const std::vector<PackConstant>& constants,
                                              Weights weights) {
  DeviceConstants out;
  Bytes all;
  for (const PackConstant& pack : constants) {
    all.resize(static_cast<size_t>(round_up(static_cast<int64_t>(all.size()), 256)));
    out.offsets_.push_back(all.size());
    all += pack(weights);
  }
  if (all.empty()) return out;
  TRY(out.memory_, device.upload(all));
  return out;
}

Result<DeviceConstants> DeviceConstants::copy(CudaDevice& device) const {
  DeviceConstants out = *this;
  if (memory_.bytes() == 0) return out;
  TRY(out.memory_, device.duplicate(memory_));
  return out;
}

}  // namespace enginery
