#include "engine/device/device.h"

#include "engine/device/cpu/cpu_device.h"
#include "engine/device/cpu/cpu_properties.h"
#include "engine/device/cpu/cpu_sensors.h"
#include "engine/device/sku_table.h"
#ifdef ENGINERY_HAVE_CUDA
#include "engine/device/cuda/card_sensors.h"
#include "engine/device/cuda/cuda_device.h"
#endif

namespace enginery {
namespace {

Error unknown_sku(const std::string& sku) {
  std::string message = "no device type is called '" + sku + "'";
  std::string near;
  for (const std::string& name : similar_skus(sku)) near += (near.empty() ? "" : ", ") + name;
  if (!near.empty()) message += "; did you mean " + near + "?";
  return {ErrorCode::not_found, message};
}

void append_local_cpus(std::vector<LocalSku>& skus) {
  const std::vector<CpuIsa> isas = supported_cpu_isas();
  for (auto isa = isas.rbegin(); isa != isas.rend(); ++isa) {
    for (const SkuRow& row : sku_table()) {
      if (row.kind == DeviceKind::cpu && row.isa == *isa)
        skus.push_back({row.name, DeviceKind::cpu, 0});
    }
  }
}

constexpr std::string_view kCard = "gpu-";  // before a card's bus in its physical id

class NoSensors final : public DeviceSensors {
 public:
  DeviceState read() override { return {}; }
};

}  // namespace

std::unique_ptr<DeviceSensors> open_sensors(const std::string& physical_id) {
  std::unique_ptr<DeviceSensors> sensors;
  if (!physical_id.starts_with(kCard)) sensors = open_cpu_sensors("/sys");
#ifdef ENGINERY_HAVE_CUDA
  if (physical_id.starts_with(kCard)) sensors = open_card_sensors(physical_id.substr(kCard.size()));
#endif
  return sensors ? std::move(sensors) : std::make_unique<NoSensors>();
}

std::string_view to_string(DeviceKind kind) {
  return kind == DeviceKind::cpu ? "cpu" : "cuda";
}

Result<std::unique_ptr<Device>> open_device(const std::string& sku, const DeviceOptions& options) {
  const std::optional<SkuRow> row = resolve_sku_name(sku);
  if (!row) return unknown_sku(sku);
  switch (row->kind) {
    case DeviceKind::cpu:
      return open_cpu_device(*row, options);
#ifdef ENGINERY_HAVE_CUDA
    case DeviceKind::cuda:
      return CudaDevice::open(*row, options);
#else
    case DeviceKind::cuda:
      break;
#endif
  }
  return Error{ErrorCode::incompatible,
               "open device " + sku +
                   ": this build of enginery has no GPU support (built without CUDA's headers)"};
}

std::vector<LocalSku> local_skus() {
  std::vector<LocalSku> skus;
#ifdef ENGINERY_HAVE_CUDA
  append_local_gpus(skus);
#endif
  append_local_cpus(skus);
  return skus;
}

}  // namespace enginery
