// Sizes of outputs that are known after a run alone: which they are, and how an output looks under
// them.
//
// Where: a graph says them of its outputs, an engine file of its plan's; the runtime and whoever
// runs a graph read the counts. Plain values, free functions without state.
#pragma once

#include <string>
#include <vector>

#include "engine/tensor/tensor.h"

namespace enginery {

// A dimension of an output whose size is known after a run alone. The output's type has the largest
// size; its elements are dense and row-major under the actual ones (Compact, ops/selecting.h).
struct RunTimeSize {
  size_t output = 0;  // index among the outputs
  int64_t axis = 0;
  size_t count = 0;  // index of the output, an int64 scalar, that is the actual size
  bool operator==(const RunTimeSize&) const = default;
};
using RunTimeSizes = std::vector<RunTimeSize>;  // by output and axis

// Of `outputs` outputs those that are no counts: the counts stand behind them.
size_t own_output_count(const RunTimeSizes& sizes, size_t outputs);

// Whether each is of an own output and an axis that it has, in order, and counted by an int64
// scalar, and every output behind the own ones is such a count.
bool are_counted(const RunTimeSizes& sizes, const std::vector<TensorType>& outputs);

// The count as a size of at most `largest`. Errors: internal (it is not, with the output's name).
Result<int64_t> counted_size(const Tensor& count, int64_t largest, const std::string& output);

// The first elements of `output` under `dims`, which are within its own.
Tensor with_dims(const Tensor& output, Dims dims);

}  // namespace enginery
