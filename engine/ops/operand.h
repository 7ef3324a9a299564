// What an operator's shape rule and reference see of their inputs, and the checks that all rules
// share.
//
// Every operator T has two functions next to its struct, which op.cpp calls for whichever operator
// a node holds:
//   infer(const T&, Operands): the types of the outputs, from the inputs' types and, where shapes
//     depend on them, constant values. Never reads data, never allocates by a size it is given.
//   reference(const T&, ReferenceInputs, ReferenceOutputs): computes, in the plainest way; called
//     only with inputs that infer has accepted. Errors: invalid_argument for data (an index, a zero
//     divisor) that only shows now.
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

// Inputs of a reference: null where an optional input is absent. Floats come as float32 or
// float64, shapes as int64.
using ReferenceInputs = std::span<const Tensor* const>;
// Outputs arrive allocated with the inferred types; a reference writes every element.
using ReferenceOutputs = std::span<Tensor>;

// Declares both functions of operator T.
#define ENGINERY_OPERATOR(T)                     \
  InferredTypes infer(const T& op, Operands in); \
  Status reference(const T& op, ReferenceInputs in, ReferenceOutputs out)

// Checks that every shape rule begins with: between `least` and `most` inputs, the first `least`
// present, all of representable size.
Status require_inputs(std::string_view op, Operands in, size_t least, size_t most);
// The known sizes alone must not pass the largest tensor (2^40 bytes), so that their products
// cannot overflow.
Status require_representable(const TensorType& type);
// A tensor of more dimensions than 64 is refused before its sizes are listed: a vector that says
// its shape may have billions of elements.
Status require_representable_rank(int64_t rank);
// Numpy-style broadcasting of run-time or static dims; invalid_argument when sizes contradict.
Result<Dims> broadcast(const Dims& a, const Dims& b);
// `dims` with sizes of 1 in front, up to `rank`: how broadcasting sees them next to dims of that
// rank.
Dims aligned(Dims dims, size_t rank);
// An axis in [-rank, rank), which the operator's rule has checked, as one in [0, rank).
inline int64_t wrapped(int64_t axis, size_t rank) {
  return axis < 0 ? axis + static_cast<int64_t>(rank) : axis;
}
// The same of any axis. Errors: invalid_argument.
Result<int64_t> normalize_axis(std::string_view op, int64_t axis, int64_t rank);

}  // namespace enginery
