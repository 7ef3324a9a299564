// Anchors: known tactics that race again beside new ones, so that the new times are put on the
// scale of the known ones.
//
// Why: a device has states some per cent apart, and a tuning that is resumed, widened or shared by
// several workers meets another one than the timings that it finds. The ratio to the probe relates
// times of two races (comparable.h), but a state affects the probe and the candidates differently;
// tactics of the same problem are alike in what bounds them, and so are the anchors that come
// first. Pure functions.
#pragma once

#include "tuner/problem_gate.h"

namespace enginery {

// The fastest few of `wanted` that are known and comparable, the fastest first.
std::vector<const Tactic*> anchors_among(const std::vector<const Tactic*>& wanted,
                                         const std::vector<Timing>& known);

// Fills the results of what is new in the job with its statistics, as they would be in the state
// in which the anchors were timed, and leaves the anchors' empty. False where the job has anchors
// and none of them ran: then the results of what is new are empty, too.
bool summarize_on_known_scale(ProblemJob& job);

}  // namespace enginery
