// Inputs to time a plan with where none are given, never to judge its results: what the plan's
// operators look up with, divide by or take the root of lies within their domains
// (engine/graph/made_up_inputs.h). Free function without state.
#pragma once

#include "engine/plan/plan.h"

namespace enginery {

// Parallel to Plan::inputs, whose types are static.
std::vector<Tensor> sample_inputs(const Plan& plan);

}  // namespace enginery
