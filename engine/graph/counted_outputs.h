// Outputs whose size is known after a run alone, as importers and builders give them to a graph:
// what counts of each stands in front, and its counts are outputs behind the model's own.
//
// Where: at the end of reading a model, or of putting a network together; afterwards
// Graph::run_time_sizes has it. Free functions without state.
#pragma once

#include "engine/graph/graph.h"

namespace enginery {

// Of a value's elements along the axis those below the count, an int64 scalar, are the model's.
struct CountedAxis {
  int64_t axis = 0;
  ValueId count = kNoValue;
  bool operator==(const CountedAxis&) const = default;
};
using CountedAxes = std::vector<CountedAxis>;  // rising

// What counts of `value`, dense from its beginning on, by a node and under the value's name `name`;
// `value` itself where no axis is counted. Errors: invalid_argument (an axis that it has not, or
// not in order; a count of another type).
Result<ValueId> compacted(Graph& graph, ValueId value, const CountedAxes& axes,
                          const std::string& name);

// Marks the counts as outputs, each once, and fills run_time_sizes. `of_outputs` runs parallel to
// the graph's outputs; those behind its end have none.
Status mark_counts(Graph& graph, const std::vector<CountedAxes>& of_outputs);

}  // namespace enginery
