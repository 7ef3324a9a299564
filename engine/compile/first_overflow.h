// Where float16 ends: the first layer of a graph whose values it cannot hold. What verification
// says of a wrong engine that stores values in float16. Free function without state.
#pragma once

#include <set>
#include <string>

#include "engine/graph/graph.h"

namespace enginery {

// "layer 'conv_12' (conv) gives 1.3e+05, ..." with the remedy; "" where float16 holds all. Looked
// at are the values named in `stored` (as the engine's plan stores them in float16) and those that
// are float16 in the graph, computed by the references from `inputs`, which run parallel to the
// graph's. Errors: those of the references.
Result<std::string> first_overflow(const Graph& graph, const std::vector<Tensor>& inputs,
                                   const std::set<std::string>& stored);

}  // namespace enginery
