// Runs a graph node by node with the operators' references: the oracle that engines, passes and
// importers are checked against. Slow; thread-safe.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "engine/graph/graph.h"

namespace enginery {

// Called with what each node has made.
using ValueMade = std::function<void(ValueId, const Tensor&)>;

// How often the nodes of `order` read each value; for dropping values after their last reader.
std::vector<size_t> reader_counts(const Graph& graph, const std::vector<NodeId>& order);

// Nodes that no output hangs on are left out. `inputs` by name, one for each of the graph's inputs;
// symbolic sizes come from them. Gives the graph's outputs by name. Errors: those of the
// references, with the node's name.
Result<std::map<std::string, Tensor>> run_graph(const Graph& graph,
                                                const std::map<std::string, Tensor>& inputs,
                                                const ValueMade& made = {});

// What run_graph gives, as a model's user sees it: without the counts, under the actual sizes.
// Errors: internal (a count that is not of the output's sizes).
Result<std::map<std::string, Tensor>> with_actual_sizes(const Graph& graph,
                                                        std::map<std::string, Tensor> outputs);

}  // namespace enginery
