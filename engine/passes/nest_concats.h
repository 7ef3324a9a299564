// Nests concats: one that repeats all parts of an earlier one reads the earlier one's result, and
// one that repeats all parts of a Split, in order, reads what was cut.
//
// A tensor can be a part of one whole, not of many: the features of a DenseNet's block, which every
// later layer joins anew, would be copied each time. Nested, each whole is a part of the next one,
// and all may lie in the last one's memory (plan/slices). Runs before vertical fusion, behind the
// passes that know joins as exporters write them.
#pragma once

#include "engine/graph/graph.h"

namespace enginery {

// How many places changed: concats that read a whole now, or are gone.
Result<int> nest_concats(Graph& graph);

}  // namespace enginery
