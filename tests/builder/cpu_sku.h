// The CPU SKU of this folder's builds: one for all of them, since a process has one instruction-set
// cap.
#pragma once

#include <string>

#include "engine/device/device.h"

namespace enginery::test {

inline std::string cpu_sku() {
  for (const LocalSku& local : local_skus()) {
    if (local.kind == DeviceKind::cpu) return local.name;
  }
  return "cpu-sse41";
}

}  // namespace enginery::test
