// Quantize and Dequantize by constant scales as rows, as kernels of both kinds of device read them.
//
// Where: read here once. Threads: values and pure functions.
#pragma once

#include "engine/tactics/problem.h"
#include "engine/tactics/tactic.h"

namespace enginery {

// Element i, in order, has scale (i / inner) % size.
struct QuantizedRows {
  int64_t outer = 1, size = 1, inner = 1;
  bool to_integers = false;  // Quantize: from float32; else to float32
  DataType integers = DataType::int8;
};

// Errors: unsupported (another operator, blocks, scales of run time, other floats than float32).
Result<QuantizedRows> quantized_rows(const Problem& problem);

// The scales and the zero points, float32, one for each of `size`; the latter 0 where there are
// none.
struct QuantizedFactors {
  std::vector<float> scale, zero;
};
QuantizedFactors quantized_factors(const Problem& problem, const QuantizedRows& rows,
                                   Weights weights);

}  // namespace enginery
