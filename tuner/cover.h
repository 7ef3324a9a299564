// Which of a network's alternatives make it faster, by the measured times of its problems.
//
// Where: the tuner, before it searches layouts. A pure function of the times.
#pragma once

#include <functional>
#include <string>

#include "engine/plan/network.h"

namespace enginery {

// Microseconds of a node at its best; infinite where no tactic of it runs.
using NodeCost = std::function<double(const NetworkNode&)>;

// Whether an alternative is considered at all.
using Considered = std::function<bool(const Alternative&)>;

// The alternatives that are faster than what they replace, the largest gain first where several
// replace the same node. Changes of format are not counted: they belong to the whole network, and
// its race is the judge. Empty where the network is best as it is.
Cover choose_cover(
    const Network& network, const NodeCost& cost,
    const Considered& considered = [](const Alternative&) { return true; });

// "2 of 48 alternatives in force, 40 left to level 4", for the log.
std::string cover_text(const Network& network, const Cover& cover, int level);

}  // namespace enginery
