// Floats that a graph computes from integers and turns into integers again (a position that is
// halved and rounded down), compares, or takes the sine and cosine of.
//
// bfloat16 tells integers apart up to 256 and float16 up to 2,048: in these types a network would
// read another row than its model from there on. So an engine of any precision computes them in
// float32, and verification holds their decisions against the reference's to the bit. Free
// functions without state.
#pragma once

#include <vector>

#include "engine/graph/graph.h"

namespace enginery {

// By value of the graph.
struct CountedFloats {
  std::vector<bool> counted;  // floats that hang on integers alone, element by element or summed
  // ... by operations that IEEE 754 defines to the bit: every engine has the reference's.
  std::vector<bool> exact;
};
CountedFloats counted_floats(const Graph& graph);

// The nodes that compute counted floats of which some node makes integers, comparisons, sines or
// cosines, and those nodes, in topological order.
std::vector<NodeId> counting_nodes(const Graph& graph);

// The nodes that make integers of floats of any kind, such as the pixel of a place in a picture,
// with the element-wise ones that compute the place, and those that take what is left of the place
// beside the pixel, in topological order. A place of 300 is a quarter off in float16 and two pixels
// in bfloat16, so that engines of any precision compute these, too, in float32.
std::vector<NodeId> placing_nodes(const Graph& graph);

}  // namespace enginery
