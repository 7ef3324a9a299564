// What several families of operator readers build the same way.
#pragma once

#include "engine/import/onnx/node_reader.h"

namespace enginery {

// A constant for Reshape that gives x's dims to a value of x's volume and, where x's first size is
// symbolic, x's first size. Refuses the node when more than one other size is known only at run
// time.
ValueId same_shape(NodeReader& node, ValueId x);

// A vector of one element a channel as [C, 1, ...], which broadcasts over [N, C, ...] of `rank`
// dimensions.
ValueId per_channel(NodeReader& node, ValueId vector, int64_t rank);

// The constant 0, 1, ..., n-1 (int64); refuses the node when n is unreasonable.
ValueId counting(NodeReader& node, int64_t n);

// The value as int64, cast where it is of another type.
ValueId as_int64(NodeReader& node, ValueId v);

// The positions of x's elements that are not zero, int64 [rank, n], of which a run tells n.
ValueId found_positions(NodeReader& node, ValueId x);

// v, with `number` in the place of zeros: a divisor.
ValueId or_where_zero(NodeReader& node, ValueId v, double number);

// Attribute `saturate` of an operator whose result is of type `to`: it tells of 8-bit floats alone.
bool saturates(NodeReader& node, DataType to);

// What used to be attribute `name` and is now input `index`: that input, or a constant of the
// attribute, or kNoValue.
ValueId ints_of_either(NodeReader& node, size_t index, const std::string& name);

// x * sigmoid(alpha * x).
ValueId sigmoid_weighted(NodeReader& node, ValueId x, float alpha);

// x over the root of its mean square along the dimensions from `axis` on, times `scale`; a scale
// that is no part of such a row is a product of its own, behind what is computed in `type` where
// that is wider.
ValueId rms_normalized(NodeReader& node, ValueId x, ValueId scale, int64_t axis, float epsilon,
                       DataType type);

// y as whole steps of `scale` from `zero`, in zero's type; in uint8 where there is none.
void result_quantized(NodeReader& node, ValueId y, ValueId scale, ValueId zero);

// The average of input 0's windows that the attributes describe.
Pooling average_pooling_of(NodeReader& node);

// The convolution of input 0 and the weights that the attributes describe.
Convolution convolution_of(NodeReader& node, size_t weights_input = 1);

}  // namespace enginery
