// The tuner's keys (text) as the catalog's (named fields).
//
// Where: below the timing stores of a local build, a runner and the agent. Threads: free functions
// without state.
#pragma once

#include <string>

#include "cache/action_key.h"

namespace enginery {

// `device` is device_key's text: one field for each of its lines, so that a miss can be explained.
ActionKey timing_device_key(const std::string& device);
ActionKey timing_problem_key(const std::string& problem);

}  // namespace enginery
