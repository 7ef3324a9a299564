// The wait for the device's measuring lock, with what a step says meanwhile.
//
// Where: who starts a runner takes the lock and hands it on, locked (RunnerCommand::device_lock): a
// runner in a sandbox has a /tmp of its own, where a lock would exclude nobody. A step of a local
// build that runs in place takes it itself. Threads: a free function; reads the environment.
#pragma once

#include <functional>

#include "engine/device/device_lock.h"
#include "pipeline/step.h"
#include "schemas/values.h"

namespace enginery {

struct DeviceWait {
  std::function<void(const Progress&)> progress;
  std::function<bool()> cancelled;  // asked while waiting
};

// Waits at most 25 minutes; the lock's file is in /tmp, or in the folder that ENGINERY_LOCKS names.
// Errors: timed_out (the device stays busy), cancelled, storage.
Result<DeviceLock> wait_for_device(const std::string& physical_id, const DeviceWait& wait);

// The device for one step, where it needs it: a lock of nothing (descriptor -1) for other steps,
// for provisional engines and where there is no device. Errors: as wait_for_device.
Result<DeviceLock> wait_for_device_of(const Step& step, bool provisional,
                                      const std::string& physical_id, const DeviceWait& wait);

}  // namespace enginery
