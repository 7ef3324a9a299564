// Copies of rows and of whole tensors.
#pragma once

#include "engine/kernels/cpu/isa/simd.h"

namespace enginery {
namespace {

// Rows of one element by a load and a store.
inline void copy_row(char* out, const char* in, int64_t bytes) {
  if (bytes == 4)
    __builtin_memcpy(out, in, 4);
  else if (bytes == 8)
    __builtin_memcpy(out, in, 8);
  else
    __builtin_memcpy(out, in, static_cast<unsigned long>(bytes));
}

// In pieces, shared by the team.
inline void copy_all(const char* in, char* out, int64_t bytes) {
  constexpr int64_t kPiece = 1 << 16;
#pragma omp parallel for schedule(static) if (bytes > 16 * kMinParallelWork)
  for (int64_t at = 0; at < bytes; at += kPiece)
    __builtin_memcpy(out + at, in + at, static_cast<unsigned long>(least(kPiece, bytes - at)));
}

}  // namespace
}  // namespace enginery
