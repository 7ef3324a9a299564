#include "engine/options/toolchain.h"

#include "engine/device/cpu/cpu_properties.h"
#include "engine/options/version.h"

namespace enginery {

std::string builder_name() {
  return "enginery " + std::string(kVersion);
}

Properties toolchain(DeviceKind kind) {
  Properties out{{"enginery", std::string(kVersion)}, {"kernels", std::string(kKernelSources)}};
  if (kind == DeviceKind::cpu) {
    Properties libraries = cpu_library_properties();
    out.insert(out.end(), libraries.begin(), libraries.end());
  }
  return out;
}

}  // namespace enginery
