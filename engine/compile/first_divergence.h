// Where an engine's wrong result begins, when a pass made it: the optimised graph against the
// imported one, value by value, both with the references. Free function without state.
#pragma once

#include <string>

#include "engine/graph/graph.h"

namespace enginery {

// The first layer of `optimised` from which a wrong output comes, whose values no value of
// `imported` has: "layer 'conv_12' (conv)". "" where the outputs agree: then no pass is at fault.
// Values are told by what they hold, since passes rename them, on samples of their elements.
// `inputs` run parallel to both graphs' inputs; `bar` is relative to a value's largest element.
Result<std::string> first_divergence(const Graph& imported, const Graph& optimised,
                                     const std::vector<Tensor>& inputs, double bar);

}  // namespace enginery
