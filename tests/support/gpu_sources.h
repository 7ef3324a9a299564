// What the conformance suite and the benchmark add for GPUs; nothing on a CPU.
#pragma once

#include <set>

#include "engine/tactics/tactic.h"

namespace enginery {

// The precisions in which a device's tactics are asked for.
std::set<Precision> precisions_of(const Device& device);

// Replaces the `kernel` source of a GPU by one that offers what its analytic model would rule out
// too. `ptx`: a compute capability, then the kernels are PTX for it, and the libraries' sources go;
// 0: code for the card itself.
void show_every_kernel(Device& device, int ptx, TacticSources& sources);

// Compiles the tactics' code on all cores, so that preparing them one by one finds it done.
void compile_in_parallel(const TacticSource& source, const Problem& problem,
                         const std::vector<Tactic>& tactics);

}  // namespace enginery
