// A CPU's clock and temperature out of /sys. Its power is root's alone to read, and so unknown.
#pragma once

#include <filesystem>

#include "engine/device/sensors.h"

namespace enginery {

// `sys` is where sysfs is mounted. The clock is the mean of all cores' present ones, the
// temperature the hottest sensor's of a chip that is a CPU's. A virtual machine has neither.
std::unique_ptr<DeviceSensors> open_cpu_sensors(std::filesystem::path sys);

}  // namespace enginery
