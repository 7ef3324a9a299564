// Inputs for a graph where none are given: to check an engine against the reference, or to time it.
//
// They respect what the graph does with them. What it looks up with, divides by or takes the
// logarithm of narrows a range on the way back to the inputs, through additions, casts and moves
// (`table[id - 100]` wants ids from 100 on); a demand that contradicts another is dropped. So a
// run may still meet data that an operator refuses. Free functions without state.
#pragma once

#include <limits>

#include "engine/graph/graph.h"

namespace enginery {

// Bounds, both included; infinite where the graph asks for nothing.
struct InputRange {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  friend bool operator==(const InputRange&, const InputRange&) = default;
};

// Parallel to the graph's inputs.
std::vector<InputRange> input_ranges(const Graph& graph);

// A tensor of the type with values of the range: smooth floats with structure at several scales,
// in [-1, 1] where nothing bounds them; integers spread over the range with its ends among them,
// ones where there is none (a mask of ones hides nothing). The same for the same arguments.
Tensor made_up_input(const TensorType& type, const InputRange& range, uint64_t seed);

// Parallel to the graph's inputs, which have static dims.
std::vector<Tensor> made_up_inputs(const Graph& graph, uint64_t seed);

}  // namespace enginery
