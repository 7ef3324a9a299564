// The types of numbers that kernels add up, compare and combine.
#pragma once

namespace enginery {

enum class NumberType : int { float32, int32, int64 };

}  // namespace enginery
