// How well the estimates of one problem's tactics foretold its times: what pruning by them costs.
//
// Where: one line of a tuning's log for each problem that was measured. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "engine/tactics/tactic.h"

namespace enginery {

// "ranks: 12.30 us (0.8 % of the network), estimate 9.1: kernel:...; 3 of 14 of its kind, 1.09
// times its least estimate; 1.10 times all's; the first 1, 2, 4, 8 of each
// kind: 1.04 1.04 1.00 1.00; PROBLEM". The last figures are times in terms of the fastest one's,
// had only so many been measured. `share` below 0: not known. `us` is parallel to the tactics,
// infinite where they have no time.
std::string ranks_text(const std::string& problem, double share, const std::vector<Tactic>& tactics,
                       const std::vector<double>& us);

}  // namespace enginery
