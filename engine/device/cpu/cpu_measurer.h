// The CPU's measuring instrument: the steady clock around a sequence, and how much of the machine
// others use.
#pragma once

#include "engine/device/device.h"

namespace enginery {

// `cores`: those that the device uses; `cache_bytes`: what flush_caches must displace.
std::unique_ptr<Measurer> make_cpu_measurer(std::vector<int> cores, int64_t cache_bytes);

}  // namespace enginery
