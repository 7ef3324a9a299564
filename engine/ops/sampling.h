// Where resizing and padding take their elements from, one dimension at a time: for references and
// kernels alike.
#pragma once

#include "engine/ops/operand.h"
#include "engine/ops/reduction.h"
#include "engine/ops/slicing.h"

namespace enginery {

struct SampleTap {
  int64_t at;
  double weight;
};

// What one index of the output's dimension is made of: the weighted sum of its taps. Where it lies
// `outside`, the operator's constant stands instead.
struct SampleTaps {
  std::vector<SampleTap> taps;
  bool outside = false;
};

// One dimension to resize. Scales stay float, and so do coordinates: ONNX Runtime decides which
// element is nearest in float.
struct ResizeDim {
  int64_t in, out;
  float scale;
  float begin = 0, end = 1;  // of the region, for `crop`
};
std::vector<SampleTaps> resize_taps(const Resize& op, const ResizeDim& dim);

// For each dimension, for each index of the output, the input's; -1 in the padding. Dims are
// static; pads as Pad's input, `axes` null where all dimensions are meant. Errors:
// invalid_argument.
Result<std::vector<std::vector<int64_t>>> pad_sources(const Pad& op,
                                                      const std::vector<int64_t>& pads,
                                                      const std::vector<int64_t>* axes,
                                                      const Dims& in, const Dims& out);

}  // namespace enginery
