// What the steps share among themselves. Inside worker only.
#pragma once

#include "engine/device/device_lock.h"
#include "worker/steps/steps.h"

namespace enginery {

// The named blob of an earlier step; internal when it was not handed over.
Result<std::shared_ptr<const Bytes>> input_named(const StepInputs& inputs, const std::string& name);

// Waits for the device's measuring lock, saying so. timed_out, cancelled.
Result<DeviceLock> lock_device(const DeviceInfo& info, const StepHooks& hooks);

// Where the content came from and, with a profile, what was measured.
Provenance make_provenance(BuildSession& bench, const Digest& content, const StepInputs& inputs,
                           const std::string& worker, const Profile& profile);

}  // namespace enginery
