// Where float16 ends: the layers of a graph whose values it cannot hold. What verification says of
// a wrong engine that stores values in float16, and what the next choice of tactics keeps in fp32.
// Free function without state.
#pragma once

#include <set>
#include <string>

#include "engine/graph/graph.h"

namespace enginery {

struct Float16Overflow {
  // "layer 'conv_12' (conv) gives 1.3e+05, more than ...", of the first such layer; "" where
  // float16 holds all.
  std::string first;
  std::string remedy;  // what the user can do about it
  // The nodes that give or read a value that overflows and is not float16 in the graph itself: in
  // fp32 they have no need of float16. By name, so that they are found in a graph of other rows.
  std::set<std::string> layers;
};

// Looked at are the values named in `stored` (as the engine's plan stores them in float16), those
// made of one that overflows, and those that are float16 in the graph, computed by the references
// from `inputs`, which run parallel to the graph's. Errors: those of the references.
Result<Float16Overflow> float16_overflow(const Graph& graph, const std::vector<Tensor>& inputs,
                                         const std::set<std::string>& stored);

}  // namespace enginery
