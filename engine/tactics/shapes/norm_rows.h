// A normalisation over groups of neighbouring elements as rows: layer, RMS, instance and group
// normalisation of a tensor that is stored in order.
//
// Where: read here once; served by the kernels of both kinds of device and by the tuner's gate.
// Threads: values and pure functions.
#pragma once

#include "engine/tactics/problem.h"

namespace enginery {

// y = (x - mean) / sqrt(variance + epsilon) * scale + bias for each of `rows` rows of `size`
// elements side by side; without a centre the mean counts as 0 and the variance is that of the
// squares. Element i of row r takes scale and bias at (r % period) * step + i / each.
struct NormRows {
  int64_t rows = 1, size = 1;
  int64_t period = 1, step = 0, each = 1;
  bool centred = true;
  float epsilon = 0;
  bool has_bias = false;  // input 2; input 1 is the scale
  Dims factors;           // of scale and bias once they are broadcast: period * size / each in all

  int64_t place(int64_t row, int64_t i) const { return row % period * step + i / each; }
};

// Errors: unsupported (another operator).
Result<NormRows> norm_rows(const Problem& problem);

// Scale (input 1) or bias (input 2) as float32, one for each place.
Tensor norm_factors(const NormRows& rows, const Tensor& given);

}  // namespace enginery
