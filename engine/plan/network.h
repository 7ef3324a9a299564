// Network: a graph cut into problems, one for each kernel that will run; the input of tactic
// selection.
//
// Flow: optimised graph -> lower -> Network -> TacticSelector. Lowering asks the tactic sources and
// keeps a fusion group, shortens it or expands it into its nodes. Where a shorter piece lets other
// sources in, cutting there is an alternative, and so is each region that a source's pattern finds,
// and sibling convolutions as one (siblings.h); measured times decide about them. Plain values;
// free functions without state.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/graph/graph.h"
#include "engine/tactics/tactic.h"

namespace enginery {

// One problem of the network, wired by the graph's values. `inputs` and `outputs` run parallel to
// those of the problem.
struct NetworkNode {
  std::string name;
  Problem problem;
  std::vector<ValueId> inputs;  // kNoValue where absent; constants included
  std::vector<ValueId> outputs;
  std::vector<Tactic> tactics;  // what the sources offer, likely best first; never empty
  // Those that the sources were asked for, where they are this node's own; empty where they are
  // the network's.
  std::set<Precision> precisions = {};
};

// Another way to cut a part of a network into problems: `instead` computes what the nodes
// `replaces` compute together, and stands where the last of them stood.
struct Alternative {
  std::vector<size_t> replaces;      // indices of Network::nodes, ascending
  std::vector<NetworkNode> instead;  // producers before consumers
  // Merged siblings (siblings.h): it stands where the first of them stood, since all that it reads
  // is there, and others may read its results before the last one.
  bool leads = false;
};

// Which of a network's alternatives are in force: their indices, ascending; no two of them replace
// the same node.
using Cover = std::vector<size_t>;

struct Network {
  Graph graph;                     // specialised and optimised; owns the constants
  std::vector<NetworkNode> nodes;  // producers before consumers
  std::vector<Alternative> alternatives = {};

  // The network with those alternatives in force; it has no others. Errors: incompatible (a cover
  // of another network).
  Result<Network> cut(const Cover& cover) const;

  // Weights of a node's constant inputs, for TacticSource::prepare; null for its other inputs.
  std::vector<const Tensor*> weights(const NetworkNode& node) const;
};

// What single nodes of the graph compute in, or else in fp32.
using NodePrecisions = std::map<NodeId, Precision>;

// Errors: invalid_argument (run-time sizes are left), unsupported (a node that no source can run,
// with every source's reason).
Result<Network> lower(Graph graph, const TacticSources& sources, const std::set<Precision>& allowed,
                      const NodePrecisions& of_nodes = {});

// What nodes that run as one may compute in, of which some are asked for these precisions: fp32,
// and what all of those agree on. Empty where none is asked for.
std::set<Precision> allowed_together(const std::vector<Precision>& asked);

// Of nodes with equal keys the tactics are the same ones, but for slices, and so are their times.
std::string offer_key(const NetworkNode& node);

// What one source has for a problem; unsupported with the reason where that is nothing.
struct SourceOffer {
  std::string source;
  Result<std::vector<Tactic>> tactics;
};
// What each source offers for a problem, in order, each tactic with its source's trust; without
// those that keep float64 values in another type, which no precision setting allows.
std::vector<SourceOffer> ask_sources(const TacticSources& sources, const Problem& problem,
                                     const std::set<Precision>& allowed);

// The same as one list. Errors: unsupported with every source's reason.
Result<std::vector<Tactic>> offer_all(const TacticSources& sources, const Problem& problem,
                                      const std::set<Precision>& allowed);

// The source of that name; null where it is not here.
const TacticSource* find_source(const TacticSources& sources, const std::string& name);

}  // namespace enginery
