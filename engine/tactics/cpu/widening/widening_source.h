// A tactic source in front of another that computes in float32: it offers the same tactics for
// problems of float16 and bfloat16 too, with their values in float32 formats.
//
// Where: around the CPU sources that compute (sources.cpp). A graph of narrow types runs at
// float32's speed, or at that of products in bfloat16 where the CPU has them: selection changes the
// formats of its inputs and outputs, constants are widened when a tactic is prepared, and values in
// between keep the digits that their types would round away. Thread-safe as the source behind it.
#pragma once

#include "engine/tactics/tactic.h"

namespace enginery {

// Offers what `source` offers, then what it offers for the widened problem. The name and traits are
// the source's; which of the two a tactic is follows from its formats.
std::unique_ptr<TacticSource> widen_narrow_floats(std::unique_ptr<TacticSource> source);

}  // namespace enginery
