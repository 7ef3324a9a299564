#include "worker/runner/device_wait.h"

#include <cstdlib>

namespace enginery {
namespace {

// Below the coordinator's limit on a step without progress.
constexpr std::chrono::minutes kMaxDeviceWait{25};

}  // namespace

Result<DeviceLock> wait_for_device(const std::string& physical_id, const DeviceWait& wait) {
  DeviceLockOptions options;
  options.timeout = kMaxDeviceWait;
  if (const char* folder = std::getenv("ENGINERY_LOCKS")) options.folder = folder;
  options.cancelled = wait.cancelled;
  options.waiting = [&](const std::string& holder) {
    wait.progress({"waiting for the device, which " + holder + " uses", 0, 0});
  };
  return DeviceLock::acquire(physical_id, options);
}

Result<DeviceLock> wait_for_device_of(const Step& step, bool provisional,
                                      const std::string& physical_id, const DeviceWait& wait) {
  const bool needed = !provisional && !physical_id.empty() &&
                      (step.needs == Needs::device || step.needs == Needs::device_alone);
  return needed ? wait_for_device(physical_id, wait) : DeviceLock::held_elsewhere();
}

}  // namespace enginery
