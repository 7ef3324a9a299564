// Which of our CPU kernels a device may run.
#pragma once

#include "engine/device/sku_table.h"
#include "engine/kernels/cpu/kernels.h"

namespace enginery {

// The widest kernels within the cap. Thread-safe.
const cpu_kernels::Kernels& cpu_kernels_for(CpuIsa cap);

// Drops loops of one turn, orders the others by output stride and joins those that walk both sides
// as one.
void simplify_copy(cpu_kernels::CopyArguments& arguments);

}  // namespace enginery
