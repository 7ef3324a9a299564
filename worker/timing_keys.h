// The tuner's keys (text) as the catalog's (named fields), and its timings as rows.
//
// Where: below the timing stores of a local build, a runner and the agent. Threads: free functions without state.
#pragma once

#include "cache/action_key.h"
#include "cache/timings.h"
#include "tuner/timing.h"

namespace enginery {

// `device` is device_key's text: one field for each of its lines, so that a miss can be explained.
ActionKey timing_device_key(const std::string& device);
ActionKey timing_problem_key(const std::string& problem);

TimingRow to_row(const Digest& device, const Digest& problem, const Timing& timing);

}  // namespace enginery
