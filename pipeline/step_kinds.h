// What agent and runner both know of the steps: their names for people, and how their errors count.
// Threads: free functions without state.
#pragma once

#include <string>

#include "schemas/values.h"

namespace enginery {

// How an attempt that ended with this error counts: only what the same input always meets is
// `failed`.
OutcomeKind outcome_kind(ErrorCode code);

// A step's name for people: "tuning", "verifying".
std::string phase_name(const std::string& step);

}  // namespace enginery
