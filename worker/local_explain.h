// Why a layer of an engine that this machine built runs the tactic that it does.
//
// Where: `enginery build --explain`, after build_local; over the timings that builds left, it
// measures nothing. Threads: as build_local.
#pragma once

#include "engine/plan/plan.h"
#include "tuner/explain/considered.h"
#include "worker/local_farm.h"

namespace enginery {

// What was considered for the layer `step` of the engine that `request` built. Errors: usage (a
// build that keeps no timings); those of the device, of the timings and of the sources.
Result<ConsideredProblem> explain_layer(Catalog& catalog, const LocalBuildRequest& request,
                                        const PlanStep& step);

}  // namespace enginery
