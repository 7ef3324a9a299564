// The scale and the zero point of a Quantize or Dequantize in a region: one of each, known.
//
// Where: below the readers of quantised regions. Threads: pure functions.
#pragma once

#include <optional>

#include "engine/tactics/shapes/reading.h"

namespace enginery {

// Its scale is one float32 constant.
inline bool has_one_scale(const Problem& part) {
  const TensorDesc& scale = part.inputs[1];
  return scale.present && scale.constant && scale.type.type == DataType::float32 &&
         volume(scale.type.dims) == 1;
}

// Its zero point: 0 where it is absent; nothing where there are several that differ, or it comes at
// run time.
inline std::optional<int64_t> one_zero_point(const Problem& part) {
  if (part.inputs.size() < 3 || !part.inputs[2].present) return 0;
  if (!part.inputs[2].value) return {};
  const std::vector<int64_t> zeros = to_int64s(*part.inputs[2].value);
  for (const int64_t zero : zeros) {
    if (zero != zeros[0]) return {};
  }
  return zeros.empty() ? 0 : zeros[0];
}

}  // namespace enginery
