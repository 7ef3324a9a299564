// The table of the kernels that compute in tiles.
#include "engine/kernels/cpu/isa/simd.h"

namespace enginery {

#define ENGINERY_DECLARE(name, arguments) void ENGINERY_KERNEL(name)(const arguments&);
ENGINERY_CPU_TILE_KERNELS(ENGINERY_DECLARE)
#undef ENGINERY_DECLARE

extern const CpuTileKernels ENGINERY_KERNEL(tile_kernels);
const CpuTileKernels ENGINERY_KERNEL(tile_kernels) = {
#define ENGINERY_ENTRY(name, arguments) ENGINERY_KERNEL(name),
    ENGINERY_CPU_TILE_KERNELS(ENGINERY_ENTRY)
#undef ENGINERY_ENTRY
};

}  // namespace enginery
