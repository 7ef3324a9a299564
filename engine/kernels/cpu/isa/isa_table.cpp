// The table of this instruction set's kernels.
#include "engine/kernels/cpu/isa/simd.h"

namespace enginery::cpu_kernels {

void ENGINERY_KERNEL(copy)(const CopyArguments&);
void ENGINERY_KERNEL(pool)(const PoolArguments&);
void ENGINERY_KERNEL(reduce)(const ReduceArguments&);
void ENGINERY_KERNEL(softmax)(const SoftmaxArguments&);
void ENGINERY_KERNEL(lrn)(const LrnArguments&);
void ENGINERY_KERNEL(pointwise)(const PointwiseArguments&);
void ENGINERY_KERNEL(depthwise)(const DepthwiseArguments&);
void ENGINERY_KERNEL(few_rows)(const FewRowsArguments&);
void ENGINERY_KERNEL(pixel_product)(const PixelProductArguments&);

extern const Kernels ENGINERY_KERNEL(kernels);
const Kernels ENGINERY_KERNEL(kernels) = {
    kWidth,
    ENGINERY_KERNEL(copy),
    ENGINERY_KERNEL(pool),
    ENGINERY_KERNEL(reduce),
    ENGINERY_KERNEL(softmax),
    ENGINERY_KERNEL(lrn),
    ENGINERY_KERNEL(pointwise),
    ENGINERY_KERNEL(depthwise),
    ENGINERY_KERNEL(few_rows),
    ENGINERY_KERNEL(pixel_product),
};

}  // namespace enginery::cpu_kernels
