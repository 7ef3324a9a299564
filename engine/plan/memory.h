// Memory planning: offsets in one arena by lifetime, so that storages that live at different times
// share bytes.
//
// Where: the last part of make_plan; check_memory also holds a plan that was read from a file to
// the same rules. Free functions; a plan belongs to one thread while it is written.
#pragma once

#include "engine/plan/plan.h"

namespace enginery {

// Of every arena offset, in bytes: what any kernel's vector loads and a GPU's allocator assume.
inline constexpr int64_t kArenaAlignment = 256;

// Sets first_step and last_step of every storage from the steps that touch it; INT_MAX and -1 where
// none does.
void find_lifetimes(Plan& plan);

// Finds the lifetimes, then sets each arena offset (lowest gap, largest first) and arena_bytes.
// Storages share bytes where one's last step has ended when the other's first begins, on whatever
// streams they run. Source: Pisarchyk and Lee, "Efficient memory management for deep neural net
// inference", 2020.
void plan_memory(Plan& plan);

// The promise of plan_memory, checked by the lifetimes that are set: no two live storages overlap,
// all lie in the arena. Takes time near-linear in the storages. Requires streams below kMaxStreams.
// Errors: internal.
Status check_memory(const Plan& plan);

}  // namespace enginery
