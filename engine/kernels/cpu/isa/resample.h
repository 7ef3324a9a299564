// One dimension resized or padded by taps.
//
// Filled by engine/tactics/cpu/kernel/resample.cpp, which knows the problem; the kernel checks
// nothing.
#pragma once

#include <cstdint>

namespace enginery {

// out[a, o, b] = sum over taps t of [first[o], first[o + 1]) of weight[t] * in[a, at[t], b], of
// tensors [outer, in_size, inner] and [outer, out_size, inner]; `fill` where o has no taps. `in`
// and `out` are different storages.
//
// `form` says what the taps are, so that nobody has to read them: `runs` of rows as they are,
// `body` of them from the first, between others, `head` before; `repeats`, each element `factor`
// times.
enum class ResampleForm : int { taps, runs, repeats };
struct ResampleArguments {
  const float* in;
  float* out;
  int64_t outer, in_size, out_size, inner;
  const int32_t* first;
  const int32_t* at;
  const float* weight;
  float fill;
  ResampleForm form;
  int64_t head, body, factor;
};

}  // namespace enginery
