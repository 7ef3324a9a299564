// Reading a picture between its pixels, out of existing operators: gathers, weighted and added up.
#pragma once

#include "engine/import/onnx/node_reader.h"

namespace enginery {

// For each point and one dimension of the picture: an element to read.
struct Tap {
  ValueId index = kNoValue;   // int64, within the picture
  ValueId weight = kNoValue;  // floating; kNoValue: 1
  ValueId inside = kNoValue;  // boolean, where the element exists; kNoValue: everywhere
};

// What the taps are multiplied by on their way to one flat index: pixels of [size...] in row-major
// order.
std::vector<int64_t> pixel_strides(const std::vector<int64_t>& sizes);

// The sum over all combinations of taps, one of each dimension. `flat`: [..., pixels, channels]
// whose first `batch_dims` dimensions the indices share; indices, weights and flags: [..., points];
// all arrays broadcast to each other. Output: [..., points, channels]; zeros where a tap is
// outside.
ValueId interpolate(NodeReader& node, ValueId flat, int64_t batch_dims,
                    const std::vector<std::vector<Tap>>& taps, const std::vector<int64_t>& strides);

// The two neighbours of each coordinate x (floating) in a dimension of `size`; they are outside
// where they do not exist.
std::vector<Tap> linear_taps(NodeReader& node, ValueId x, int64_t size);

// lower <= index < upper, for int64.
ValueId is_within(NodeReader& node, ValueId index, int64_t lower, int64_t upper);
ValueId clamp_index(NodeReader& node, ValueId index, int64_t size);

// Arithmetic with a number of x's type.
ValueId plus(NodeReader& node, ValueId x, double number);
ValueId times(NodeReader& node, ValueId x, double number);

}  // namespace enginery
