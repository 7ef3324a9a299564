// Which operators give the elements of their input back in order, under other dims or the same.
//
// Where: passes that look through them, tactics that run them as views, the gate that follows
// decided positions. A pure function.
#pragma once

#include "engine/ops/op.h"

namespace enginery {

// Reshape, Flatten, Squeeze, Unsqueeze and Identity: element i of the output is element i of the
// first input, both stored in order.
bool keeps_element_order(const Op& op);

}  // namespace enginery
