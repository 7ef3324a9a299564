#include "engine/device/device.h"

namespace enginery {

std::string_view to_string(DeviceKind kind) {
  return kind == DeviceKind::cpu ? "cpu" : "cuda";
}

}  // namespace enginery
