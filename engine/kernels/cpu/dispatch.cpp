#include "engine/kernels/cpu/dispatch.h"

namespace enginery {

extern const CpuKernels kernels_sse41, kernels_avx, kernels_avx2, kernels_avx512;
extern const CpuTileKernels tile_kernels_avx512_bf16, tile_kernels_amx;

const CpuKernels& cpu_kernels_for(CpuIsa cap) {
  switch (cap) {
    case CpuIsa::sse41:
      return kernels_sse41;
    case CpuIsa::avx:
      return kernels_avx;
    case CpuIsa::avx2:
      return kernels_avx2;
    default:
      return kernels_avx512;
  }
}

const CpuTileKernels* cpu_tile_kernels_for(CpuIsa cap) {
  if (cap >= CpuIsa::amx) return &tile_kernels_amx;
  return multiplies_bfloat16(cap) ? &tile_kernels_avx512_bf16 : nullptr;
}

}  // namespace enginery
