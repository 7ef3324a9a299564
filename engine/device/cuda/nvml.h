// NVML, for reading a card's clocks, temperature, power and throttling. Read only: settings are
// never changed. Declared here rather than included: nvml.h comes with few of the packages that
// have the other headers.
#pragma once

#include <string>

#include "engine/base/result.h"
#include "engine/device/cuda/library.h"

namespace enginery {

using NvmlHandle = void*;

#define ENGINERY_NVML_CALLS(CALL)                                                    \
  CALL(nvmlInit_v2, ())                                                              \
  CALL(nvmlSystemGetDriverVersion, (char*, unsigned))                                \
  CALL(nvmlDeviceGetHandleByPciBusId_v2, (const char*, NvmlHandle*))                 \
  CALL(nvmlDeviceGetClockInfo, (NvmlHandle, int, unsigned*))                         \
  CALL(nvmlDeviceGetTemperature, (NvmlHandle, int, unsigned*))                       \
  CALL(nvmlDeviceGetPowerUsage, (NvmlHandle, unsigned*))                             \
  CALL(nvmlDeviceGetCurrentClocksThrottleReasons, (NvmlHandle, unsigned long long*)) \
  CALL(nvmlDeviceGetMigMode, (NvmlHandle, unsigned*, unsigned*))

// The table. Immutable, thread-safe. A call's status 0 is success; what cannot be read stays
// unread. Clocks are in MHz, temperatures in degrees Celsius, power in milliwatts; throttling is a
// mask of reasons, of which bit 0 says that nothing runs. Source: NVIDIA, NVML API reference.
struct Nvml {
#define ENGINERY_DECLARE(name, parameters) int(*name) parameters = nullptr;
  ENGINERY_NVML_CALLS(ENGINERY_DECLARE)
#undef ENGINERY_DECLARE
  // Errors: unavailable (Jetson and some containers have none).
  static Result<Nvml> open();
  std::string driver_version() const;  // "580.159.04"; empty where it cannot be read
};

// The version in the first line of /proc/driver/nvidia/version, "580.159.04"; empty where the text
// has none. For machines and containers without NVML, whose timings would else outlive a driver.
std::string kernel_module_version(std::string_view proc_text);

}  // namespace enginery
