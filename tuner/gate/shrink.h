// A smaller problem that a tactic cuts into tiles as it cuts the real one: as many elements are
// left over behind the last whole tile, in every direction. All of its output can be compared.
//
// Where: ProblemGate. Thread-safe, without state.
#pragma once

#include <optional>

#include "tuner/gate/expectation.h"

namespace enginery {

// The problem with fewer rows and columns, the same modulo 256, the largest tile, and with fewer
// terms, the same modulo 128; of other operators with fewer images; of regions those that
// sampled_region.h computes element by element, cut as their product is. Nothing where it is small
// already, or its sizes cannot be changed alone, or it is another region: that is compared in full.
std::optional<Problem> shrink(const Problem& problem);

// All of a small problem's output; of others, as much as takes moderate time.
Coverage full_coverage();

}  // namespace enginery
