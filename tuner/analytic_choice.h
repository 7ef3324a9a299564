// Selects tactics without measuring: so that the sources' estimates, of tactics and of the
// reformats between them, add up to the least.
//
// Where: in place of the tuner at level 0, and for provisional engines, whose device is not here.
// A free function without state.
#pragma once

#include "engine/plan/tactic_selection.h"
#include "tuner/known_failures.h"

namespace enginery {

// The selection is complete, and has no tactic that is known to have failed. Errors: unsupported
// (every tactic of a layer failed, with the reasons; no way through the network; a reformat that no
// source has); those of the store.
Result<TacticSelection> analytic_choice(const Network& network, const TacticSources& sources,
                                        KnownFailures* failures = nullptr);

// The regions of quantised numbers that the estimates speak for, of all alternatives.
Cover estimated_cover(const Network& network);

// The same, and of a quantised network with its products in 8 bits, where that adds up to less: of
// the network's alternatives only regions of quantised numbers are considered, since the estimates
// tell float32 from 8 bits, but not one way to fuse from another.
Result<TacticSelection> analytic_cover(const Network& network, const TacticSources& sources,
                                       KnownFailures* failures = nullptr);

// The sum of its tactics' and reformats' estimates.
double estimated_us(const TacticSelection& selection);

}  // namespace enginery
