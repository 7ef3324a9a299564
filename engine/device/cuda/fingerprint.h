// What a GPU is, read from the driver and NVML: the facts of timing keys, and the SKU that they
// resolve to.
//
// Where: read when a device is opened or GPUs are listed; for a card that is elsewhere the data
// sheet stands in (gpu_specs.h). Threads: values and pure functions.
#pragma once

#include "engine/device/cuda/driver.h"
#include "engine/device/cuda/nvml.h"
#include "engine/device/device.h"
#include "engine/device/sku_table.h"

namespace enginery {

// A visible GPU's structure. Clocks are the highest ones; the bus is that of its memory.
struct CardStructure {
  int compute_capability = 0, sm_count = 0, memory_mib = 0, l2_kib = 0, clock_mhz = 0,
      memory_clock_mhz = 0, bus_bits = 0;
  int pci_device_id = 0;  // 0 where it cannot be read
  bool ecc = false, integrated = false;
  std::string mig = "no";  // "no", "yes", "unknown"
  // As an administrator has set them; two cards of one kind that differ here differ in speed.
  std::string power_limit_w = "unknown", application_clock_mhz = "unknown";
  std::string name, pci_bus, driver_text;
};

// `nvml` may be null. Errors: internal with the driver's text.
Result<CardStructure> read_card(const Driver& driver, const Nvml* nvml, int index);

// The name of the SKU of these numbers: by PCI id where the table has it, else by compute
// capability, SMs and memory within 12 %; else its structural name.
std::string resolve_sku(const CardStructure& card);

// hardware facts, roofline and the plain fields of DeviceInfo, out of the structure.
DeviceInfo device_info(const CardStructure& card);
// The same for a card that is not here, from the data sheet.
DeviceInfo device_info(const SkuRow& row);

}  // namespace enginery
