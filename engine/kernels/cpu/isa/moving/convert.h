// Strided copies that change the element type: Cast, and reformats between float32 and the narrow
// floats.
//
// Filled by engine/tactics/cpu/kernel/convert.cpp, which knows the problem; the kernel checks
// nothing.
#pragma once

#include "engine/kernels/cpu/isa/moving/copy.h"

namespace enginery {

enum class ElementType : uint8_t {
  float32,
  float16,
  bfloat16,
  float64,
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  boolean,
};

// out[sum(i * out_stride)] = `to` of in[sum(i * in_stride)], loops as in CopyArguments. Floats are
// rounded to nearest even; to integers they are truncated and saturate, NaN becomes 0; integers
// wrap; boolean is "not zero". Where one side is float64, values go through that, else where one is
// a float, through float32.
struct ConvertArguments {
  const void* in;
  void* out;
  ElementType from, to;
  int loops;
  CopyLoop loop[kMaxCopyLoops];
};

}  // namespace enginery
