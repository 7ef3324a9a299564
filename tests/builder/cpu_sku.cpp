#include "tests/builder/cpu_sku.h"

#include "engine/device/device.h"

namespace enginery::test {

std::string cpu_sku() {
  for (const LocalSku& local : local_skus()) {
    if (local.kind == DeviceKind::cpu) return local.name;
  }
  return "cpu-sse41";
}

}  // namespace enginery::test
