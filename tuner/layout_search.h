// Layout search: picks one tactic a node so that the tactics' times and the reformats between them
// add up to the least.
//
// Pure: costs come in as numbers. Least-cost assignment on a general graph is NP-hard; this is
// coordinate descent from several starting points (each node's fastest; each layout as far as it
// goes), which finds chains' switches as a whole.
#pragma once

#include <functional>
#include <vector>

#include "engine/plan/assignment.h"

namespace enginery {

// cost[n][t]: microseconds of network.nodes[n].tactics[t]; infinite for one that must not be used.
using TacticCosts = std::vector<std::vector<double>>;
// Microseconds of one reformat; asked often, so it should remember.
using ReformatCost = std::function<double(const ReformatKey&)>;

struct Solution {
  std::vector<size_t> choice;  // index into nodes[n].tactics
  double total_us = 0;
};

// The tactics that a solution chose, parallel to network.nodes.
std::vector<Tactic> chosen_tactics(const Network& network, const Solution& solution);

// Distinct local optima, best first, at most `most`.
std::vector<Solution> search_layouts(const Network& network, const TacticCosts& costs,
                                     const ReformatCost& reformat, size_t most);

}  // namespace enginery
