// Running sums along one dimension.
//
// Filled by engine/tactics/cpu/kernel/scan.cpp, which knows the problem; the kernel checks nothing.
#pragma once

#include <cstdint>

#include "engine/kernels/cpu/isa/number_type.h"

namespace enginery {

// out[o, i, n] = the sum of in[o, j, n] over j <= i, of tensors [outer, size, inner]: from the end
// where `reverse`, over j < i where `exclusive`. Floats are added in double, integers wrap.
struct ScanArguments {
  const void* in;
  void* out;
  int64_t outer, size, inner;
  NumberType type;
  bool exclusive, reverse;
};

}  // namespace enginery
