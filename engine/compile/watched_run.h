// Runs of an engine that somebody watches (EngineWatch). Free functions without state.
#pragma once

#include "engine/compile/compile.h"
#include "engine/runtime/execution.h"

namespace enginery {

// Execution::run, said before and after. Errors: its.
Status run_whole(Execution& execution, std::span<const void* const> inputs,
                 std::span<void* const> outputs, const EngineWatch& watch);

// The same step by step: each is said before and after, and where it fails. Errors: those of the
// step, with the layer's name.
Status run_watched(Execution& execution, std::span<const void* const> inputs,
                   std::span<void* const> outputs, const EngineWatch& watch);

}  // namespace enginery
