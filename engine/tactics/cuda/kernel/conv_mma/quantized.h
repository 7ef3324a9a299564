// Products of quantised numbers on tensor cores: int8 or uint8 by int8, sums in int32.
//
// Where: the part of family conv_mma that serves regions. Threads: pure functions.
#pragma once

#include "engine/tactics/cuda/kernel/conv_mma/mma_case.h"

namespace enginery {

// As a family's offer and plan.
Status offer_quantized_mma(const Problem& problem, const KernelContext& context,
                           std::vector<Tactic>& out);
Result<KernelPlan> plan_quantized_mma(const Problem& problem, const Tactic& tactic,
                                      const KernelContext& context);

}  // namespace enginery
