// Chooses without measuring: the sources' estimates of tactics, and of the reformats between them,
// add up to the least.
//
// For level 0 and for provisional engines, whose device nobody here has.
#pragma once

#include "engine/plan/assignment.h"

namespace enginery {

// Errors: unsupported (no way through the network, or a reformat that no source has).
Result<Assignment> analytic_choice(const Network& network, const TacticSources& sources);

}  // namespace enginery
