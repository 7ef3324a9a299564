// Selects tactics without measuring: so that the sources' estimates, of tactics and of the
// reformats between them, add up to the least.
//
// Where: in place of the tuner at level 0, and for provisional engines, whose device is not here.
// A free function without state.
#pragma once

#include "engine/plan/tactic_selection.h"

namespace enginery {

// The selection is complete. Errors: unsupported (no way through the network, or a reformat that no
// source has).
Result<TacticSelection> analytic_choice(const Network& network, const TacticSources& sources);

}  // namespace enginery
