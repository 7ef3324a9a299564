// The CPU's measuring instrument: the steady clock around a command list, and how much of the
// machine other processes use.
//
// Threads: as every Measurer.
#pragma once

#include "engine/device/measurer.h"

namespace enginery {

// `cores`: the numbers of those that the device uses, at least one.
std::unique_ptr<Measurer> make_cpu_measurer(std::vector<int> cores);

}  // namespace enginery
