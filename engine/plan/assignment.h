// Assignment: the tactic chosen for every node of a network and for every change of format between
// them.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "engine/plan/network.h"

namespace enginery {

// The change of one value's format.
struct ReformatKey {
  ValueId value;
  Format from, to;
  auto operator<=>(const ReformatKey&) const = default;
};

struct Assignment {
  std::vector<Tactic> tactics;  // parallel to Network::nodes
  std::map<ReformatKey, Tactic>
      reformats;    // every one that the formats of `tactics` make necessary
  int streams = 1;  // at most so many run side by side
};

// Chooses tactics; implemented by the tuner.
class TacticSelector {
 public:
  virtual ~TacticSelector() = default;
  virtual Result<Assignment> select(const Network& network) = 0;
};

// Format in which a value is made: the graph's inputs and outputs are linear in the graph's type.
Format boundary_format(const Value& value);

// The changes of format that `tactics` need: (value, producer's format, consumer's format), where
// placement differs.
std::vector<ReformatKey> needed_reformats(const Network& network,
                                          const std::vector<Tactic>& tactics);

// The first tactic that is offered for a reformat. Errors: unsupported.
Result<Tactic> offer_reformat_tactic(const Network& network, const TacticSources& sources,
                                     const ReformatKey& key);

// Adds to `assignment` the first offered tactic for each reformat that is needed and not in it yet.
Status complete_reformats(const Network& network, const TacticSources& sources,
                          Assignment& assignment);

}  // namespace enginery
