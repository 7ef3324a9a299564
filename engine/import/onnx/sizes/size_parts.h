// SizeParts: what an integer vector of a graph is made of, where it is the shape that an operator
// makes of values with open axes (open_axes.h): sizes that are known, and counts that runs tell.
//
// Where: rewrite_open asks it of shapes, repeats and limits. Free functions without state.
#pragma once

#include "engine/import/onnx/sizes/open_axes.h"

namespace enginery {

struct SizePart {
  int64_t number = 0;        // where there is no count
  ValueId count = kNoValue;  // an int64 scalar that is the size
  bool operator==(const SizePart&) const = default;
};
using SizeParts = std::vector<SizePart>;

// The elements of `v`, followed through what exporters put between a size and its use: joining,
// picking, cutting, casts, reshapes, adding 0, and torch's `where(shape == -1, 1, shape)`. Nothing
// where an element is neither a number nor a count.
std::optional<SizeParts> size_parts(const OpenAxes& open, const Graph& graph, ValueId v);

// Whether they are known and some are counts.
bool has_count(const std::optional<SizeParts>& parts);

}  // namespace enginery
