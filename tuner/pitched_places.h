// What a selection reads or writes with a pitch: its tactics were gated and timed without one, so
// each is checked once more as it will run.
//
// Where: the tuner asks before a selection may be raced or chosen; where one is wrong, what copies
// is left. The timings of such tactics have keys of their own (plan.h, selected_key), so that
// nothing is checked twice. Belongs to the tuner's thread.
#pragma once

#include "tuner/problem_tuner.h"

namespace enginery {

// The tactic that fails where the selection puts its input or output, with the reason in words;
// empty where all hold. Below level 2, where nothing is measured, only what the store has as failed
// counts. Errors: ProblemTuner::time's.
Result<std::string> wrong_with_a_pitch(const Network& network, const std::vector<Tactic>& tactics,
                                       ProblemTuner& problems);

}  // namespace enginery
