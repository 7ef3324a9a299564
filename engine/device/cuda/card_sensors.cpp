#include "engine/device/cuda/card_sensors.h"

namespace enginery {
namespace {

// NVML's own numbers for what is asked.
enum NvmlKinds { kClockSm = 1, kClockMemory = 2, kTemperatureGpu = 0 };
constexpr unsigned long long kNothingRuns = 1;

class CardSensors final : public DeviceSensors {
 public:
  CardSensors(Nvml nvml, NvmlHandle card) : nvml_(std::move(nvml)), card_(card) {}
  DeviceState read() override { return card_state(nvml_, card_); }

 private:
  const Nvml nvml_;
  const NvmlHandle card_;
};

}  // namespace

DeviceState card_state(const Nvml& nvml, NvmlHandle card) {
  DeviceState state;
  unsigned value = 0;
  unsigned long long bits = 0;
  if (nvml.nvmlDeviceGetClockInfo(card, kClockSm, &value) == 0) state.clock_mhz = value;
  if (nvml.nvmlDeviceGetClockInfo(card, kClockMemory, &value) == 0) state.memory_clock_mhz = value;
  if (nvml.nvmlDeviceGetTemperature(card, kTemperatureGpu, &value) == 0)
    state.temperature_c = value;
  if (nvml.nvmlDeviceGetPowerUsage(card, &value) == 0) state.power_w = value / 1e3;
  if (nvml.nvmlDeviceGetCurrentClocksThrottleReasons(card, &bits) == 0)
    state.throttle_bits = bits & ~kNothingRuns;
  return state;
}

std::unique_ptr<DeviceSensors> open_card_sensors(const std::string& pci_bus) {
  auto nvml = Nvml::open();
  NvmlHandle card = nullptr;
  if (!nvml.ok() || nvml->nvmlDeviceGetHandleByPciBusId_v2(pci_bus.c_str(), &card) != 0)
    return nullptr;
  return std::make_unique<CardSensors>(std::move(nvml).value(), card);
}

}  // namespace enginery
