#include "engine/compile/toolchain.h"

#include "engine/compile/version.h"
#include "engine/device/cpu/cpu_facts.h"

namespace enginery {

std::string builder_name() {
  return "enginery " + std::string(kVersion);
}

Facts toolchain(DeviceKind kind) {
  Facts out{{"enginery", std::string(kVersion)}, {"kernels", std::string(kKernelSources)}};
  if (kind == DeviceKind::cpu) {
    Facts libraries = cpu_library_facts();
    out.insert(out.end(), libraries.begin(), libraries.end());
  }
  return out;
}

}  // namespace enginery
