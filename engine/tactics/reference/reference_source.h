// Tactic source `reference`: the operators' own CPU references, for any problem; the last resort and the oracle.
#pragma once

#include "engine/tactics/tactic.h"

namespace enginery {

// For a device whose memory the host can read: a CPU.
Result<std::unique_ptr<TacticSource>> make_reference_source(const DeviceInfo& info);

// The problem computed on the host: anchor by its reference, then the epilogue in float32, rounded to the outputs'
// types at the end. `inputs` as in the problem, null where absent. Also the oracle of conformance tests and of the tuner.
Result<std::vector<Tensor>> run_problem_reference(const Problem& problem, std::span<const Tensor* const> inputs);

}  // namespace enginery
