#include "engine/options/toolchain.h"

#include <algorithm>

#include "engine/device/cpu/cpu_properties.h"
#include "engine/options/version.h"

namespace enginery {

std::string builder_name() {
  return "enginery " + std::string(kVersion);
}

std::string reader_name() {
  return builder_name() + " graph=" + std::string(kGraphSources);
}

Properties toolchain(DeviceKind kind) {
  Properties out{{"enginery", std::string(kVersion)}, {"kernels", std::string(kKernelSources)}};
  if (kind == DeviceKind::cpu) {
    Properties libraries = cpu_library_properties();
    out.insert(out.end(), libraries.begin(), libraries.end());
  }
  return out;
}

std::string toolchain_text(DeviceKind kind, const DeviceInfo* info) {
  Properties facts = toolchain(kind);
  if (info) {
    for (const auto& fact : info->software) {
      const bool known = std::any_of(facts.begin(), facts.end(),
                                     [&](const auto& f) { return f.first == fact.first; });
      if (!known) facts.push_back(fact);
    }
  }
  std::string out;
  for (const auto& [name, value] : facts) {
    std::string safe = value;
    std::replace(safe.begin(), safe.end(), ';', ',');
    out += (out.empty() ? "" : ";") + name + "=" + safe;
  }
  return out;
}

}  // namespace enginery
