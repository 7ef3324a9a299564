// Opens the RowSources behind one --input argument. Inside of the library; see input_set.h.
#pragma once

#include <filesystem>

#include "engine/data/input_set.h"

namespace enginery {

// The sources that `path` names: one for a file, one for each picture of a folder. `steps` is null
// without
// --preprocess.
Result<std::vector<std::unique_ptr<RowSource>>> open_row_sources(const std::filesystem::path& path,
                                                                 const InputDescription& input,
                                                                 const Preprocess* steps);

// The rows of a tensor in memory. Errors: invalid_argument (of other dims than the input).
Result<std::unique_ptr<RowSource>> tensor_source(Tensor tensor, const InputDescription& input,
                                                 std::string label);

bool is_archive(const std::filesystem::path& path);  // a .npz file, by its magic bytes

}  // namespace enginery
