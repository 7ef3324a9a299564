// Which operators map floats to floats element by element.
//
// Where: passes that chain them, sources that run such chains. Pure functions.
#pragma once

#include "engine/ops/op.h"

namespace enginery {

// An activation, a unary or binary function of floats with a float as its result, PRelu, or Where,
// whose condition is no float.
bool is_float_function(const Op& op);

// A cast to floats, of any type: a chain of such functions may begin with one, too.
bool makes_floats(const Op& op);

// A sum or a product of two: what an epilogue may do with another operand.
bool adds_or_multiplies(const Op& op);

}  // namespace enginery
