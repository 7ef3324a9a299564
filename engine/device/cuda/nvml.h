// NVML, for reading a card's clocks, temperature, power and throttling. Read only: settings are
// never changed. Declared here rather than included: nvml.h comes with few of the packages that
// have the other headers.
#pragma once

#include <string>
#include <vector>

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

// Missing from the libraries of older drivers, and null then.
#define ENGINERY_NVML_LATER_CALLS(CALL)                              \
  CALL(nvmlDeviceGetEnforcedPowerLimit, (NvmlHandle, unsigned*))     \
  CALL(nvmlDeviceGetApplicationsClock, (NvmlHandle, int, unsigned*)) \
  CALL(nvmlDeviceGetProcessUtilization,                              \
       (NvmlHandle, NvmlProcessUtilization*, unsigned*, unsigned long long))

// What one process used of a card over one of NVML's own sampling periods, in per cent.
struct NvmlProcessUtilization {
  unsigned pid = 0;
  unsigned long long microseconds = 0;  // since 1970, the period's end
  unsigned sm = 0, memory = 0, encoder = 0, decoder = 0;
};

// The table. Immutable, thread-safe. A call's status 0 is success; what cannot be read stays
// unread. Clocks are in MHz, temperatures in degrees Celsius, power in milliwatts; throttling is a
// mask of reasons, of which bit 0 says that nothing runs. Source: NVIDIA, NVML API reference.
struct Nvml {
#define ENGINERY_DECLARE(name, parameters) int(*name) parameters = nullptr;
  ENGINERY_NVML_CALLS(ENGINERY_DECLARE)
  ENGINERY_NVML_LATER_CALLS(ENGINERY_DECLARE)
#undef ENGINERY_DECLARE
  // Errors: unavailable (Jetson and some containers have none).
  static Result<Nvml> open();
  std::string driver_version() const;  // "580.159.04"; empty where it cannot be read
  // The card's own limits, for its key: "700" W and "1980" MHz; "unknown" where they cannot be
  // read.
  std::string power_limit_w(NvmlHandle card) const;
  std::string application_clock_mhz(NvmlHandle card) const;
  // The share of the card's time that other processes used during the last second, 0 to 1; 0 where
  // that cannot be told.
  double foreign_load(NvmlHandle card) const;
};

// The share that others than `own` used by these samples: each process's largest, summed, up to 1.
// 0 where `own` is not among them: inside a container the numbers are those of the host, and nobody
// can tell which is this process.
double foreign_share(const std::vector<NvmlProcessUtilization>& samples, unsigned own);

// The version in the first line of /proc/driver/nvidia/version, "580.159.04"; empty where the text
// has none. For machines and containers without NVML, whose timings would else outlive a driver.
std::string kernel_module_version(std::string_view proc_text);

}  // namespace enginery
