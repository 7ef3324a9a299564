// Regions of element-wise operators alone, as the sources see them that run one in a single pass
// over memory:
//
//   op(x [, y]), op(r0 [, z]), ...
//
// in floats, where all results have the output's dims. The first one may make floats of other
// numbers; the condition of a choice is a boolean from outside.
//
// Where: between a region and the families called pointwise. Pure functions.
#pragma once

#include "engine/tactics/region.h"

namespace enginery {

// Whether it is a region of nothing but such operators, all as large as the output.
bool is_pointwise_region(const Problem& problem);

}  // namespace enginery
