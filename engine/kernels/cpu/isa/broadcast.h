// Loops over an output that lies in order, with operands that repeat: what select, discrete and
// gather_elements walk. Filled by engine/tactics/cpu/kernel/broadcast.cpp.
#pragma once

#include <cstdint>

namespace enginery {

constexpr int kMaxBroadcastLoops = 6, kMaxBroadcastOperands = 3;

// The innermost loop is the last. Strides in elements, 0 where an operand repeats; those of an
// operand that broadcasting repeats are 0 or 1 along the innermost loop.
struct BroadcastLoops {
  int loops;  // at least 1
  int64_t extent[kMaxBroadcastLoops];
  int64_t stride[kMaxBroadcastOperands][kMaxBroadcastLoops];
};

}  // namespace enginery
