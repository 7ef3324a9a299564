// Merges sibling products: matrix products of one value with constant weights (queries, keys and
// values of a transformer) become one, whose weights stand side by side, with their biases.
//
// The parts of its rows cost nothing to their reader only where it reads them in place. An
// attention does, by offsets and strides; every other reader keeps products of its own (a gate
// beside what it gates, which an element-wise step would have to read by strides too). Runs after
// remove_dead, once attentions are found and their pieces gone, and before vertical fusion.
#pragma once

#include "engine/graph/graph.h"

namespace enginery {

// How many places changed: groups of products that became one.
Result<int> merge_products(Graph& graph);

}  // namespace enginery
