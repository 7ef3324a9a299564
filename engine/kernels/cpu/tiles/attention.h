// Attention of bfloat16 operands, without its scores in memory.
//
// Filled by engine/tactics/cpu/kernel/attention.cpp, which knows the problem; the kernel checks
// nothing.
#pragma once

#include "engine/kernels/cpu/isa/attention.h"

namespace enginery {

// Rows of `q`, `k` and `v` lie side by side: their places' columns are 1. `y` is a storage of its
// own, float32 or, where `narrow`, bfloat16.
struct TileAttentionArguments : AttentionForm {
  const uint16_t *q, *k, *v;
  void* y;
  bool narrow;
};

}  // namespace enginery
