// The text of wgmma's instruction, whose operands are as many as a warpgroup's tile has sums.
//
// Where: one of the functions of a program with conv_wgmma.cuh. Threads: a pure function.
#pragma once

#include <cstdint>
#include <string>

#include "enginery/types.h"

namespace enginery {

// multiply_group<TX>(sums, a, b): 64 rows x `columns`, 32 bytes along K of swizzled rows of
// `row_bytes`, from a and b in shared memory. `type` is TX: float16, bfloat16, int8 or uint8;
// `columns` is one of those that wgmma has. Source: PTX ISA 9.0, 9.7.15.
std::string wgmma_text(DataType type, int64_t columns, int64_t row_bytes);

}  // namespace enginery
