// Which of a problem's tactics and of a network's alternatives a level measures: by their
// estimates, nothing is run.
//
// Where: the problem tuner before it measures, and whoever says what was considered. Threads: pure
// functions.
#pragma once

#include <string>
#include <vector>

#include "tuner/effort/effort.h"

namespace enginery {

// Why each of `offered`, in its order, is not worth measuring at this level; "" where it is: its
// estimate is far above another's, it is behind the first of its kind that the problem's share of
// the network is worth (`effort`), its precision is likely a slower one and it is behind the first
// few of its source in that, it is behind the first few of all, or it is the reference, unless
// nothing else is left. Those without an estimate are not judged by it.
std::vector<std::string> unworthy_of_measuring(const std::vector<Tactic>& offered, int level,
                                               const Effort& effort = {});
// The others.
std::vector<const Tactic*> worth_measuring(const std::vector<Tactic>& offered, int level,
                                           const Effort& effort = {});

// Whether the problems of one of the network's alternatives are: where the estimates of these add
// up to more than 1.5 times those of what it replaces, only level 4 measures it, and so it does
// with merged siblings. Kept where an estimate is lacking on either side.
bool is_worth_measuring(const Network& network, const Alternative& alternative, int level);

}  // namespace enginery
