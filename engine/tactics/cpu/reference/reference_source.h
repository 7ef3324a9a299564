// Tactic source `reference`: the operators' own CPU references, for any problem; the last resort
// and the oracle.
#pragma once

#include "engine/tactics/tactic.h"

namespace enginery {

// For a device whose memory the host can read: a CPU.
Result<std::unique_ptr<TacticSource>> make_reference_source(const DeviceInfo& info);

// The tactic `id` of source "reference" that computes the problem on the host, wherever its tensors
// come from: formats as pinned, else linear; estimated at about one operation a nanosecond on one
// thread. Errors: unsupported (run-time sizes).
Result<Tactic> reference_tactic(const Problem& problem, std::string id);
// Whether the tactic's formats are those of reference_tactic. Errors: incompatible.
Status require_reference_formats(const Problem& problem, const Tactic& tactic);

// The problem computed on the host: anchor by its reference, then the epilogue in float32
// (float64 where that is the output's type), rounded to the outputs' types at the end; of a region
// one operator after the other, with nothing rounded between them. `inputs` as in the problem, null
// where absent. Also the oracle of conformance tests and of the tuner.
Result<std::vector<Tensor>> run_problem_reference(const Problem& problem,
                                                  std::span<const Tensor* const> inputs);

}  // namespace enginery
