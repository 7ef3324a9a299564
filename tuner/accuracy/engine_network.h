// An engine's content as a NetworkRun: made ready once, run on batch after batch.
//
// Where: what HeldOutCheck holds against the float model. Free function without state.
#pragma once

#include "engine/compile/compile.h"
#include "tuner/accuracy/held_out_check.h"

namespace enginery {

// Inputs are those of `graph`, in its order. The target outlives the network. Errors: untrusted
// (damaged content), those of preparing it; of the network those of a run.
Result<NetworkRun> engine_network(std::shared_ptr<const Bytes> content, const Target& target,
                                  const Graph& graph);

}  // namespace enginery
