// Reductions of one dimension, or of several that lie together.
//
// Filled by engine/tactics/cpu/kernel/reduce.cpp, which knows the problem; the kernel checks
// nothing.
#pragma once

#include <cstdint>

#include "engine/kernels/cpu/isa/number_type.h"

namespace enginery {

// Of integers, which wrap, there are the first four.
enum class CpuReduction : int { sum, max, min, prod, mean, sum_square, l1, log_sum_exp };

// out[o, i] = reduction over s of in[o, s, i], size at least 1. Sums of floats are float32, in as
// many partial sums as vectors hold. inner 1 is a reduction of rows; channels-last images reduce
// their pixels with inner = channels.
struct ReduceArguments {
  const void* in;
  void* out;
  int64_t outer, size, inner;
  CpuReduction kind;
  NumberType type;
};

}  // namespace enginery
