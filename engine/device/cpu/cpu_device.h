// The CPU as a device: memory is host memory, a stream runs its work at once in the calling thread
// and its OpenMP team.
#pragma once

#include "engine/device/device.h"
#include "engine/device/sku_table.h"

namespace enginery {

// Errors: incompatible (this CPU lacks the instruction set), invalid_argument (threads).
Result<std::unique_ptr<Device>> open_cpu_device(const SkuRow& row, const DeviceOptions& options);

// The instruction-set cap of a CPU device. Requires a CPU's info.
CpuIsa cpu_isa_of(const DeviceInfo& info);

}  // namespace enginery
