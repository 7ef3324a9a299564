// Held-out rows: the inputs that engines are held against the float model on, as one piece of
// bytes.
//
// Where: the command line reads a user's data and makes them, once for all targets; they travel
// with the job as its blob `held_out`. README.md has the layout. Free functions without state.
#pragma once

#include <map>
#include <string>

#include "engine/tensor/tensor.h"

namespace enginery {

// By input, with its rows in the first dimension. Equal rows give equal bytes. Under kRowLabels,
// which is no input's name, the class of each row as int64, where that is known.
using HeldOutRows = std::map<std::string, Tensor>;
inline constexpr const char* kRowLabels = "";

Bytes encode_rows(const HeldOutRows& rows);
// Errors: invalid_argument (damaged, or no such bytes).
Result<HeldOutRows> decode_rows(std::string_view bytes);

}  // namespace enginery
