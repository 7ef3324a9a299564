// The kernel families: one declaration and one line in families.cpp each; their definitions are in
// the folder of their name.
//
// Where: kernel_source.h asks them in order. Threads: constants.
#pragma once

#include <span>

#include "engine/tactics/cuda/kernel/kernel_family.h"

namespace enginery {

extern const KernelFamily kAttentionFamily;
extern const KernelFamily kArgExtremeFamily;
extern const KernelFamily kBatchedGemmFamily;
extern const KernelFamily kCastFamily;
extern const KernelFamily kConvDirectFamily;
extern const KernelFamily kConvMmaFamily;
extern const KernelFamily kConvPoolFamily;
extern const KernelFamily kConvSimtFamily;
extern const KernelFamily kCopyFamily;
extern const KernelFamily kCumSumFamily;
extern const KernelFamily kDeconvFamily;
extern const KernelFamily kDepthwiseFamily;
extern const KernelFamily kDiscreteFamily;
extern const KernelFamily kFloat64Family;
extern const KernelFamily kGatherFamily;
extern const KernelFamily kGemvFamily;
extern const KernelFamily kIndexedFamily;
extern const KernelFamily kLrnFamily;
extern const KernelFamily kNormalizeFamily;
extern const KernelFamily kPointwiseFamily;
extern const KernelFamily kPoolFamily;
extern const KernelFamily kQuantizeFamily;
extern const KernelFamily kReduceFamily;
extern const KernelFamily kReformatFamily;
extern const KernelFamily kResampleFamily;
extern const KernelFamily kSelectFamily;
extern const KernelFamily kSoftmaxFamily;
extern const KernelFamily kTopKFamily;
extern const KernelFamily kViewFamily;
extern const KernelFamily kVolumeFamily;

// In the order in which a problem's tactics are offered.
std::span<const KernelFamily* const> kernel_families();

}  // namespace enginery
