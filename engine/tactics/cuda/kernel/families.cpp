#include "engine/tactics/cuda/kernel/families.h"

namespace enginery {

std::span<const KernelFamily* const> kernel_families() {
  static constexpr const KernelFamily* kFamilies[] = {
      &kViewFamily,        &kReformatFamily,   &kConvMmaFamily,    &kDepthwiseFamily,
      &kGemvFamily,        &kConvSimtFamily,   &kConvDirectFamily, &kDeconvFamily,
      &kBatchedGemmFamily, &kPoolFamily,       &kReduceFamily,     &kSoftmaxFamily,
      &kLrnFamily,         &kNormalizeFamily,  &kPointwiseFamily,  &kCopyFamily,
      &kGatherFamily,      &kResampleFamily,   &kCastFamily,       &kSelectFamily,
      &kDiscreteFamily,    &kArgExtremeFamily, &kQuantizeFamily,   &kAttentionFamily,
      &kIndexedFamily,     &kCumSumFamily,     &kTopKFamily,       &kConvPoolFamily,
      &kVolumeFamily,      &kFloat64Family,
  };
  return kFamilies;
}

}  // namespace enginery
