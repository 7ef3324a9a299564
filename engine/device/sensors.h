// DeviceSensors: what a device's sensors say of clocks, temperature and power, without opening the
// device: NVML for a card, /sys for a CPU.
//
// Where: a worker's agent, which never opens a device, says it with each Sync. Threads: as many as
// like may read at once.
#pragma once

#include <memory>
#include <string>

#include "engine/device/measurer.h"

namespace enginery {

class DeviceSensors {
 public:
  virtual ~DeviceSensors() = default;
  // Now; 0 where the device does not say. Takes about a millisecond.
  virtual DeviceState read() = 0;
};

// Of the device with this physical id (DeviceInfo::physical_id). Never null: of one without sensors
// everything reads as 0.
std::unique_ptr<DeviceSensors> open_sensors(const std::string& physical_id);

}  // namespace enginery
