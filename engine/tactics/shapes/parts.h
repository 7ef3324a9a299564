// Parts: Concat's inputs, and the outputs of Split and Slice, where each lies in the whole in one
// piece, so that it can be a part of the whole's memory and nothing moves. Or they are channels of
// pixels, each with the pitch of the whole.
//
// Lowering asks before it offers such a step for nothing, planning places the parts by it, and
// reading an engine file checks them by it. No state, any thread.
#pragma once

#include <optional>
#include <vector>

#include "engine/tactics/tactic.h"

namespace enginery {

// Whether the problem's output is the whole and its inputs are the parts; otherwise its first input
// is the whole.
bool joins_parts(const Problem& problem);

// Where each part begins in the whole, in bytes from its start, in the formats of the tactic; in
// the order of Concat's inputs or of the outputs. Null where the problem is none of these
// operators, a part is a constant, has no elements or lies in several pieces that no pitch
// describes, the layout is padded, or the whole and its parts differ in format.
std::optional<std::vector<int64_t>> part_offsets(const Problem& problem, const Tactic& tactic);

// The format in which the parts are channels of a whole that lies in `format`: with the pitch that
// the whole has, where it is some of the channels of a wider tensor itself. Null where the problem
// joins or cuts something else or the layout is another one.
std::optional<Format> pitched_parts(const Problem& problem, const Format& format);

}  // namespace enginery
