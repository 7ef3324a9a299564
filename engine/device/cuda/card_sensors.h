// A card's clocks, temperature and power through NVML.
#pragma once

#include "engine/device/cuda/nvml.h"
#include "engine/device/sensors.h"

namespace enginery {

// What NVML says of the card now; what it does not say stays 0. "Nothing runs" is no throttling;
// foreign_load is not asked.
DeviceState card_state(const Nvml& nvml, NvmlHandle card);

// Of the card on this PCI bus; null where there is no NVML, or no such card for it.
std::unique_ptr<DeviceSensors> open_card_sensors(const std::string& pci_bus);

}  // namespace enginery
