// Computes only the rows that are read. Where all that anything reads of a value is the same part
// of one dimension (the class token of a vision transformer, the last position of a decoder), the
// nodes that make it make that part alone, back to where all rows are needed: below the keys and
// values of the last attention. Products, normalisations and attention lose most of their work.
//
// Runs once attention is one operator, which can leave queries out, and before transposes sink.
// Where no product, normalisation or attention gets smaller, nothing is moved.
#pragma once

#include "engine/graph/graph.h"

namespace enginery {

// How many nodes compute less.
Result<int> drop_dead_rows(Graph& graph);

}  // namespace enginery
