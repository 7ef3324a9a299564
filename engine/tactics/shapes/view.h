// Views: problems that move nothing, because the output is the input's storage under other dims.
//
// Every source asks here before it offers a copy; a view tactic runs nothing. No state, any thread.
#pragma once

#include "engine/tactics/problem.h"

namespace enginery {

// Whether the input's storage in layout `from`, read as the output in layout `to`, is the result.
// Layouts: linear, channels-last without padding (rank 3 to 5; a reshape keeps images and
// channels), or any where both sides have the same dims and the same layout. False where the
// problem has an epilogue or its input is a weight.
bool is_view(const Problem& problem, const Layout& from, const Layout& to);

// Whether the problem is a Cast of float16 or bfloat16 to float32: nothing is left to do where the
// input lies in float32 already, in the output's layout.
bool is_widening_cast(const Problem& problem);

// The input's dimension that becomes dimension i of the output; an empty permutation reverses them.
// (ONNX Transpose-13)
std::vector<size_t> transposed_axes(const Transpose& op, size_t rank);

}  // namespace enginery
