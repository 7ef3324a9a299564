// Two convolutions whose results are added as one product along both of their Ks
// (shapes/joined_products.h): what the first gives never goes to memory.
//
// Where: the part of family conv_mma that serves those regions. Threads: pure functions.
#pragma once

#include "engine/tactics/cuda/kernel/conv_mma/mma_case.h"

namespace enginery {

// As a family's offer and plan.
Status offer_joined_mma(const Problem& problem, const KernelContext& context,
                        std::vector<Tactic>& out);
Result<KernelPlan> plan_joined_mma(const Problem& problem, const Tactic& tactic,
                                   const KernelContext& context);

}  // namespace enginery
