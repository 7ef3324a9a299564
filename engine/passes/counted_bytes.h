// Floats that are whole numbers of 8 bits times one known step: what a Dequantize gives, a Cast,
// and either of them times or by a number.
//
// Where: raise_quantize, which finds such integers again, and whoever chooses scales. Pure
// functions.
#pragma once

#include <optional>

#include "engine/graph/graph.h"
#include "engine/tensor/symmetric_int8.h"

namespace enginery {

// The value is (bytes - zero) * step, within float32's rounding.
struct CountedBytes {
  ValueId bytes = kNoValue;  // int8 or uint8, not known
  float step = 1;            // above 0
  int64_t zero = 0;
};

// Nothing where the value is no such float32.
std::optional<CountedBytes> counted_bytes(const Graph& graph, ValueId value);

}  // namespace enginery
