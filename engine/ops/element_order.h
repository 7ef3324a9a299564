// Which operators give elements of their inputs back, and which of them in order.
//
// Where: passes that look through them, tactics that run them as views, the gates that follow
// decided positions and compare bits. Pure functions.
#pragma once

#include "engine/ops/op.h"

namespace enginery {

// Reshape, Flatten, Squeeze, Unsqueeze and Identity: element i of the output is element i of the
// first input, both stored in order.
bool keeps_element_order(const Op& op);

// Operators whose results are elements of their inputs, bit for bit (kMovesElements), Cast apart.
bool moves_elements(const Op& op);

}  // namespace enginery
