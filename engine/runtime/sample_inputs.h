// Inputs to time a plan with where none are given, never to judge its results: what the plan's
// operators look up with, divide by or take the root of lies within their domains
// (engine/graph/made_up_inputs.h). Free function without state.
#pragma once

#include "engine/plan/plan.h"

namespace enginery {

inline constexpr uint64_t kSampleSeed = 20261122;

// Parallel to Plan::inputs, whose types are static. The same for the same plan and seed.
std::vector<Tensor> sample_inputs(const Plan& plan, uint64_t seed = kSampleSeed);

}  // namespace enginery
