// The best classes of one output row, and the file that names the classes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/tensor/tensor.h"

namespace enginery {

struct RankedClass {
  int64_t index = 0;
  double score = 0;
};

// The k largest elements of `row` (any dims; all of them when it has fewer), best first; equal
// scores by lower index, NaN last.
std::vector<RankedClass> top_k(const Tensor& row, int64_t k);

// Row i of a batch: dims without the first. Requires i < dims[0].
Tensor row_of(const Tensor& batch, int64_t i);

// One label a line, line 0 = class 0; tabs become spaces, so that a label stays one column.
// Errors: not_found, storage, invalid_argument (larger than 64 MiB).
Result<std::vector<std::string>> read_labels(const std::filesystem::path& path);

}  // namespace enginery
