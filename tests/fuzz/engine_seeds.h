// Engines to begin fuzzing with: random small graphs, each step by one of its tactics, and one
// engine for each problem of the conformance suite and source that serves it. For the lowest
// instruction set; without a signature.
#pragma once

#include "tests/fuzz/fuzz_target.h"

namespace enginery::test {

// Always the same ones.
Result<std::vector<FuzzSeed>> engine_seeds();

}  // namespace enginery::test
