#include "engine/device/cpu/cpu_properties.h"
#include "engine/device/sku_table.h"
#ifdef ENGINERY_HAVE_CUDA
#include "engine/device/cuda/cuda_device.h"
#endif

namespace enginery {
namespace {

void append_local_cpus(std::vector<LocalSku>& skus) {
  std::vector<CpuIsa> isas = supported_cpu_isas();
  for (auto isa = isas.rbegin(); isa != isas.rend(); ++isa) {
    for (const SkuRow& row : sku_table()) {
      if (row.kind == DeviceKind::cpu && row.isa == *isa)
        skus.push_back({row.name, DeviceKind::cpu, 0});
    }
  }
}

}  // namespace

std::vector<LocalSku> local_skus() {
  std::vector<LocalSku> skus;
#ifdef ENGINERY_HAVE_CUDA
  append_local_gpus(skus);
#endif
  append_local_cpus(skus);
  return skus;
}

}  // namespace enginery
