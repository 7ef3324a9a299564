// Which operators map floats to floats element by element.
//
// Where: passes that chain them, sources that run such chains. Pure function.
#pragma once

#include "engine/ops/op.h"

namespace enginery {

// An activation, a unary or binary function of floats with a float as its result, PRelu, or Where,
// whose condition is no float.
bool is_float_function(const Op& op);

// Whether it makes floats of single elements of any type: with what a chain of such functions may
// begin, too.
bool makes_floats(const Op& op);

}  // namespace enginery
