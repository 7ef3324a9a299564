// Choices: what tuning decided, as data that another machine can follow: a tactic for each node and
// each reformat.
//
// The `tune` step's result; `assemble` pins it. No weights and no names in it, so it serves every
// model of the structure.
#pragma once

#include <string>
#include <vector>

#include "engine/plan/assignment.h"

namespace enginery {

struct Choices {
  std::vector<std::string> tactics;    // tactic_key, parallel to Network::nodes
  std::vector<std::string> reformats;  // tactic_key, parallel to needed_reformats
  std::vector<double>
      node_us;      // measured medians, parallel to tactics; empty when nothing was measured
  int streams = 1;  // Assignment::streams
};

Choices to_choices(const Network& network, const Assignment& assignment,
                   std::vector<double> node_us);

std::string to_json(const Choices& choices);
Result<Choices> parse_choices(std::string_view json);

// Follows the choices. Errors: incompatible, when a tactic is not offered any more (it names the
// tactic and what is).
Result<Assignment> follow(const Network& network, const TacticSources& sources,
                          const Choices& choices);

}  // namespace enginery
