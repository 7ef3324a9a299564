// Layout search: picks one tactic a node so that the tactics' times and the reformats between them
// add up to the least.
//
// Where: the tuner calls it with measured costs, analytic_choice with estimates. Least-cost
// assignment on a general graph is NP-hard; this is coordinate descent from several starting points
// (the fastest tactic of each node; one layout for as many nodes as have it), so that a whole chain
// can change its layout at once. Pure and deterministic: costs come in as numbers.
#pragma once

#include <functional>
#include <vector>

#include "engine/plan/tactic_selection.h"

namespace enginery {

// cost[n][t]: microseconds of network.nodes[n].tactics[t]; infinite for one that must not be used.
using TacticCosts = std::vector<std::vector<double>>;
// Microseconds of one reformat, infinite for one that no source has; asked often, so it should
// remember.
using ReformatCost = std::function<double(const ReformatKey&)>;

struct Solution {
  std::vector<size_t> choice;  // index into nodes[n].tactics
  double total_us = 0;         // tactics and reformats
};

// The tactics that a solution chose, parallel to network.nodes.
std::vector<Tactic> chosen_tactics(const Network& network, const Solution& solution);

// Distinct local optima, best first, at most `max_solutions`; at least one, whose total is infinite
// where nothing connects all layers.
std::vector<Solution> search_layouts(const Network& network, const TacticCosts& costs,
                                     const ReformatCost& reformat, size_t max_solutions);

}  // namespace enginery
