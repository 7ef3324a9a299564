// Indices as operators count them.
#pragma once

#include "engine/kernels/cpu/isa/simd.h"

namespace enginery {
namespace {

// A negative index counts from the end of `size`; one outside takes the nearest element.
inline int64_t nearest_index(int64_t given, int64_t size) {
  const int64_t index = given < 0 ? given + size : given;
  return most(0, least(index, size - 1));
}

}  // namespace
}  // namespace enginery
