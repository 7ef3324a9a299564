// Tactic source `kernel` on a CPU: kernels of our own (engine/kernels/cpu) where the library has
// none or a slow one, and views, which run nothing.
#pragma once

#include "engine/tactics/tactic.h"

namespace enginery {

Result<std::unique_ptr<TacticSource>> make_cpu_kernel_source(const DeviceInfo& info);

}  // namespace enginery
