// Symmetric 8-bit numbers: what steps the elements of activations and weights are counted in.
//
// Where: whoever writes quantisation into a model or a graph, from scales that a calibration gave.
// Values; free functions without state. The rounding is round-half-to-even, as QuantizeLinear's.
#pragma once

#include "engine/tensor/tensor.h"

namespace enginery {

inline bool is_eight_bits(DataType type) {
  return type == DataType::int8 || type == DataType::uint8;
}

// How a tensor's values become whole numbers. Those of one without negative values are uint8 with
// 127 / 255 of the scale: the same largest magnitude in steps of half the size.
struct ActivationScale {
  float scale = 0;  // of the int8 form: the largest magnitude / 127; above 0
  bool non_negative = false;

  DataType type() const { return non_negative ? DataType::uint8 : DataType::int8; }
  float step() const;  // of that type
};

// Of uint8 in these steps.
ActivationScale unsigned_scale(float step);

struct QuantizedWeights {
  Tensor elements;  // int8, of the weights' dims, in [-127, 127]
  Tensor scales;    // float32 [channels]: the largest magnitude / 127; 1 where all are zero
};

// Requires float32 weights and a dimension of theirs: `axis` counts the output channels.
QuantizedWeights quantize_weights(const Tensor& weights, int64_t axis);

}  // namespace enginery
