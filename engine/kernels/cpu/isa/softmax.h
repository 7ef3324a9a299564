// Softmax and its logarithm.
//
// Filled by engine/tactics/cpu/kernel/softmax.cpp, which knows the problem; the kernel checks
// nothing.
#pragma once

#include <cstdint>

namespace enginery {

// out[o, s, i] = exp(in[o, s, i]) / sum over s, of tensors [outer, size, inner], shifted by the
// largest value of each row, so that no input is too large. `in` and `out` are different storages.
struct SoftmaxArguments {
  const float* in;
  float* out;
  int64_t outer, size, inner;
  bool log;  // its logarithm instead
};

}  // namespace enginery
