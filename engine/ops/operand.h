// What an operator's shape rule and reference see of their inputs.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/tensor/tensor.h"

namespace enginery {

// One input of a shape rule. `constant` is set where the value is known at build time.
struct Operand {
  bool present = true;  // an optional input may be absent
  TensorType type;
  const Tensor* constant = nullptr;
};

using Operands = std::span<const Operand>;
using InferredTypes = Result<std::vector<TensorType>>;

// Inputs of a reference: null where an optional input is absent. Floats come as float32, shapes as
// int64.
using ReferenceInputs = std::span<const Tensor* const>;
// Outputs arrive allocated with the inferred types; a reference writes every element.
using ReferenceOutputs = std::span<Tensor>;

// Checks that every shape rule begins with: between `least` and `most` inputs, the first `least`
// present, all of representable size.
Status require_inputs(std::string_view op, Operands in, size_t least, size_t most);
// The known sizes alone must not pass the largest tensor (2^40 bytes), so that their products
// cannot overflow.
Status require_representable(const TensorType& type);
// Numpy-style broadcasting of run-time or static dims; invalid_argument when sizes contradict.
Result<Dims> broadcast(const Dims& a, const Dims& b);
// `dims` with sizes of 1 in front, up to `rank`: how broadcasting sees them beside dims of that
// rank.
Dims aligned(Dims dims, size_t rank);
// axis in [-rank, rank) -> [0, rank).
Result<int64_t> normalize_axis(std::string_view op, int64_t axis, int64_t rank);

}  // namespace enginery
