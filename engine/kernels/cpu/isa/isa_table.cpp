// The table of this instruction set's kernels.
#include "engine/kernels/cpu/isa/simd.h"

namespace enginery {

#define ENGINERY_DECLARE(name, arguments) void ENGINERY_KERNEL(name)(const arguments&);
ENGINERY_CPU_KERNELS(ENGINERY_DECLARE)
#undef ENGINERY_DECLARE

extern const CpuKernels ENGINERY_KERNEL(kernels);
const CpuKernels ENGINERY_KERNEL(kernels) = {kWidth,
#define ENGINERY_ENTRY(name, arguments) ENGINERY_KERNEL(name),
                                             ENGINERY_CPU_KERNELS(ENGINERY_ENTRY)
#undef ENGINERY_ENTRY
};

}  // namespace enginery
