#include "engine/device/cuda/fingerprint.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>

#include "engine/base/file.h"
#include "engine/device/cuda/gpu_specs.h"

namespace enginery {
namespace {

constexpr int kStreamsSideBySide = 4;  // networks rarely have more branches

// The PCI device id from sysfs; 0 for an integrated GPU or where sysfs is hidden.
int pci_device_id(std::string bus) {
  std::transform(bus.begin(), bus.end(), bus.begin(), ::tolower);
  std::ifstream file("/sys/bus/pci/devices/" + bus + "/device");
  int id = 0;
  file >> std::hex >> id;
  return file ? id : 0;
}

std::string read_mig(const Nvml* nvml, NvmlHandle handle) {
  unsigned current = 0, pending = 0;
  if (!nvml || !handle || nvml->nvmlDeviceGetMigMode(handle, &current, &pending) != 0)
    return "unknown";
  return current ? "yes" : "no";
}

bool near(double value, double wanted) {
  return std::abs(value - wanted) <= 0.12 * wanted;
}

void add_hardware_facts(DeviceInfo& info, const CardStructure& card) {
  char id[8];
  std::snprintf(id, sizeof id, "%04x", card.pci_device_id);
  info.hardware = {{"name", card.name},
                   {"pci_id", card.pci_device_id ? id : "none"},
                   {"compute_capability", std::to_string(card.compute_capability)},
                   {"units", std::to_string(card.sm_count)},
                   {"memory_mib", std::to_string(card.memory_mib)},
                   {"l2_kib", std::to_string(card.l2_kib)},
                   {"clock_mhz", std::to_string(card.clock_mhz)},
                   {"memory_clock_mhz", std::to_string(card.memory_clock_mhz)},
                   {"ecc", card.ecc ? "yes" : "no"},
                   {"mig", card.mig},
                   {"power_limit_w", card.power_limit_w},
                   {"application_clock_mhz", card.application_clock_mhz}};
}

}  // namespace

Result<CardStructure> read_card(const Driver& driver, const Nvml* nvml, int index) {
  CardStructure card;
  CUdevice device = 0;
  CUDA_OK(driver, cuDeviceGet(&device, index));
  char text[256] = "";
  CUDA_OK(driver, cuDeviceGetName(text, sizeof text, device));
  card.name = text;
  CUDA_OK(driver, cuDeviceGetPCIBusId(text, sizeof text, device));
  card.pci_bus = text;
  size_t bytes = 0;
  CUDA_OK(driver, cuDeviceTotalMem_v2(&bytes, device));
  card.memory_mib = static_cast<int>(bytes >> 20);
  int major = 0, minor = 0, ecc = 0, integrated = 0, khz = 0, memory_khz = 0, l2 = 0;
  std::pair<CUdevice_attribute, int*> wanted[] = {
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &major},
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &minor},
      {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &card.sm_count},
      {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, &l2},
      {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, &khz},
      {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, &memory_khz},
      {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, &card.bus_bits},
      {CU_DEVICE_ATTRIBUTE_ECC_ENABLED, &ecc},
      {CU_DEVICE_ATTRIBUTE_INTEGRATED, &integrated}};
  for (auto& [attribute, value] : wanted)
    CUDA_OK(driver, cuDeviceGetAttribute(value, attribute, device));
  card.compute_capability = 10 * major + minor;
  card.l2_kib = l2 / 1024;
  card.clock_mhz = khz / 1000;
  card.memory_clock_mhz = memory_khz / 1000;
  card.ecc = ecc != 0, card.integrated = integrated != 0;
  card.pci_device_id = card.integrated ? 0 : pci_device_id(card.pci_bus);
  NvmlHandle handle = nullptr;
  if (nvml) {
    card.driver_text = nvml->driver_version();
    if (nvml->nvmlDeviceGetHandleByPciBusId_v2(card.pci_bus.c_str(), &handle) != 0)
      handle = nullptr;
    card.power_limit_w = nvml->power_limit_w(handle);
    card.application_clock_mhz = nvml->application_clock_mhz(handle);
  }
  if (card.driver_text.empty()) {
    const auto module = read_file("/proc/driver/nvidia/version", 4096);
    if (module.ok()) card.driver_text = kernel_module_version(*module);
  }
  card.mig = card.integrated ? "no" : read_mig(nvml, handle);
  return card;
}

std::string resolve_sku(const CardStructure& card) {
  auto fits = [&](const SkuRow& row) {
    return row.kind == DeviceKind::cuda && row.compute_capability == card.compute_capability &&
           row.sm_count == card.sm_count;
  };
  for (const SkuRow& row : sku_table()) {
    if (fits(row) && std::count(row.pci_ids.begin(), row.pci_ids.end(), card.pci_device_id))
      return row.name;
  }
  for (const SkuRow& row : sku_table()) {
    if (fits(row) && near(card.memory_mib / 1024.0, row.memory_gib)) return row.name;
  }
  return structural_sku_name(card.compute_capability, card.sm_count,
                             static_cast<int>(std::ceil(card.memory_mib / 1024.0)));
}

DeviceInfo device_info(const CardStructure& card) {
  DeviceInfo info;
  info.kind = DeviceKind::cuda;
  info.sku = resolve_sku(card);
  info.name = card.name;
  info.physical_id = "gpu-" + card.pci_bus;
  info.compute_capability = card.compute_capability;
  info.compute_units = card.sm_count;
  info.streams = kStreamsSideBySide;
  info.memory_bytes = static_cast<int64_t>(card.memory_mib) << 20;
  info.cache_bytes = static_cast<int64_t>(card.l2_kib) << 10;
  // Both edges of the memory clock carry data.
  info.bytes_per_second = 2e6 * card.memory_clock_mhz * card.bus_bits / 8;
  set_peaks(info, card.clock_mhz);
  add_hardware_facts(info, card);
  return info;
}

DeviceInfo device_info(const SkuRow& row) {
  GpuSpecs specs = gpu_specs(row);
  CardStructure card;
  card.name = "data sheet of " + row.name;
  card.pci_bus = "none";
  card.compute_capability = row.compute_capability;
  card.sm_count = row.sm_count;
  card.memory_mib = row.memory_gib * 1024;
  card.l2_kib = specs.l2_kib;
  card.clock_mhz = specs.boost_mhz;
  card.pci_device_id = row.pci_ids.empty() ? 0 : row.pci_ids.front();
  DeviceInfo info = device_info(card);
  info.sku = row.name;
  info.physical_id = "none";
  info.bytes_per_second = 1e9 * specs.gigabytes_per_second;
  return info;
}

}  // namespace enginery
