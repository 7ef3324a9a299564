// The `kernel` tactic source on the emulator: the same families, plans and text, run on the host
// without a GPU.
#pragma once

#include "engine/tactics/tactic.h"

namespace enginery {

// A device of host memory that says it is a GPU of the compute capability.
std::unique_ptr<Device> make_emulated_device(int compute_capability);

// In which order blocks, warps and lanes run where barriers leave it open.
enum class EmulationOrder { forward, backward };

// Needs a C++ compiler ($CXX or c++) at run time; libraries go to `folder`. `order` is read at each
// launch and outlives what the source prepares.
std::unique_ptr<TacticSource> make_emulated_source(Device& device, std::string folder,
                                                   const EmulationOrder& order);

}  // namespace enginery
