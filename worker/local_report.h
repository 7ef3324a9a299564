// What a local build says at its end, put together from the target's row, the engine's row and the
// engine's result.
//
// Where: the last act of local_farm.cpp; the command line prints it. Threads: free functions
// without state.
#pragma once

#include "coordinator/store/queue_rows.h"
#include "pipeline/keys.h"
#include "worker/local_farm.h"

namespace enginery {

// `phases` are the steps that were executed, in seconds; parts of the tuning are added where it was
// one of them.
LocalBuildReport make_report(const KeySubject& subject, const TargetRow& target,
                             const EngineView& engine, const StepResult& result,
                             const std::vector<std::pair<std::string, double>>& phases);

}  // namespace enginery
