// Which of our CPU kernels a device may run.
//
// Where: asked once by the tactic source of our CPU kernels when it is opened. Thread-safe.
#pragma once

#include "engine/device/sku_table.h"
#include "engine/kernels/cpu/kernels.h"

namespace enginery {

// The kernels of the widest instruction set within the cap: a device may be opened as an older CPU
// than this machine has.
const CpuKernels& cpu_kernels_for(CpuIsa cap);

// Those of bfloat16, in tiles; null where the cap has no instructions for it.
const CpuTileKernels* cpu_tile_kernels_for(CpuIsa cap);

}  // namespace enginery
