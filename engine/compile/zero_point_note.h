// What a user should know of a network whose activations have zero points: products that a device
// has no kernels in 8 bits for.
//
// Where: once a network is lowered, beside the engine's assembly. A free function without state.
#pragma once

#include <string>

#include "engine/plan/network.h"

namespace enginery {

// "int8: 2 of 26 products are computed in float, ...": the products of 8-bit activations with 8-bit
// weights that no offered region multiplies as integers, and whose activations' zero points are not
// 0. Empty where there is none.
std::string zero_point_note(const Network& network);

}  // namespace enginery
