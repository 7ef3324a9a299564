// TacticSelection: the tactic chosen for every node of a network and for every change of format
// between them.
//
// Flow: Network -> TacticSelector (the tuner; or tuner/analytic_choice, which measures nothing) ->
// TacticSelection -> make_plan. Plain values and free functions; const ones may be shared.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "engine/plan/network.h"
#include "engine/plan/wanted_formats.h"

namespace enginery {

// The change of one value's format.
struct ReformatKey {
  ValueId value;
  Format from, to;
  auto operator<=>(const ReformatKey&) const = default;
};

struct TacticSelection {
  std::vector<Tactic> tactics;  // parallel to the nodes of the network cut by `cover`
  // Every change of format that the formats of `tactics` make necessary.
  std::map<ReformatKey, Tactic> reformats;
  int streams = 1;   // at most this many run in parallel
  Cover cover = {};  // which of the network's alternatives are in force
};

// Selects tactics; implemented by the tuner.
class TacticSelector {
 public:
  virtual ~TacticSelector() = default;
  // The selection is complete: it has every reformat that it needs.
  virtual Result<TacticSelection> select(const Network& network) = 0;
};

// The changes of format that `tactics` need: (value, how it lies, how a reader wants it), where
// the placement of elements differs. In ascending order, each once.
std::vector<ReformatKey> needed_reformats(const Network& network,
                                          const std::vector<Tactic>& tactics);

// The first tactic that is offered for a change of format. Errors: unsupported.
Result<Tactic> offer_reformat_tactic(const Network& network, const TacticSources& sources,
                                     const ReformatKey& key);

// Adds to `selection` the first offered tactic for each reformat that it needs and lacks. Errors:
// unsupported.
Status complete_reformats(const Network& network, const TacticSources& sources,
                          TacticSelection& selection);

}  // namespace enginery
