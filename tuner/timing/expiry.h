// Expiry: which stored failures hold for good, and which are tried again later.
//
// Where: the tuner leaves out of what the store knows the failures that are due again. A change of
// the device's software is another device key, under which nothing has failed yet. Pure functions.
#pragma once

#include "tuner/timing/timing.h"

namespace enginery {

// What becomes of failures of one kind.
struct FailureRule {
  FailureKind kind;
  int days;      // after which it is tried again
  int attempts;  // in all; after so many failures it holds for good
};

// The kinds that may have passed by themselves; all others hold for good.
const std::vector<FailureRule>& failure_rules();

// Whether the timing is a failure that may be tried again at `unix_seconds`.
bool is_due_again(const Timing& timing, double unix_seconds);

}  // namespace enginery
