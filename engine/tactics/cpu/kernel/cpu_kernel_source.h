// Tactic source `kernel` on a CPU: kernels of our own (engine/kernels/cpu) where the library has
// none or a slow one, and views, which run nothing.
//
// Where: one row of engine/tactics/sources.cpp. A tactic is found again by offering again and
// comparing id and formats. Thread-safe, like every source.
#pragma once

#include "engine/kernels/cpu/kernels.h"
#include "engine/tactics/tactic.h"

namespace enginery {

// A source for a CPU's SKU, with the kernels of its instruction set. The machine may lack that
// instruction set as long as nothing that was prepared runs.
Result<std::unique_ptr<TacticSource>> make_cpu_kernel_source(const DeviceInfo& info);
// The same with other kernels in tiles, null for none: tests emulate them.
Result<std::unique_ptr<TacticSource>> make_cpu_kernel_source(const DeviceInfo& info,
                                                             const CpuTileKernels* tiles);

}  // namespace enginery
