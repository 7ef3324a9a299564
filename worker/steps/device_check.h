// The runner's half of a worker's self-test: whether the device still does what it is told.
//
// Where: the runner makes it for the step "examine", which the agent asks for when the coordinator
// has quarantined the worker (worker/agent/self_test.h). Threads: one.
#pragma once

#include "engine/device/device.h"

namespace enginery {

// Writes patterns to the device's memory, copies them on it and back, and times a copy. internal:
// what is wrong with it; out_of_memory, device_lost: as the device says.
Status check_device(Device& device);

}  // namespace enginery
