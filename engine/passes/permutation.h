// Permutations of dimensions, and how a reshape and a transpose change places.
//
// Where: the passes that move, merge or remove transposes. Values and pure functions. Dimension i
// of a permuted tensor is dimension permutation[i] of the one before.
#pragma once

#include <optional>

#include "engine/ops/op.h"

namespace enginery {

using Permutation = std::vector<int64_t>;

// `of` itself, or all dimensions in reverse where it is empty, as a transpose writes them.
Permutation written_out(const Permutation& of, size_t rank);
Dims permuted(const Dims& dims, const Permutation& by);
// First one, then the other.
Permutation one_after_other(const Permutation& first, const Permutation& second);
Permutation inverse(const Permutation& of);
// A constant as the transpose by `by`, which permutes its dimensions, would give it.
Result<Tensor> transposed(const Tensor& constant, const Permutation& by);

// x transposed by `permutation` and then reshaped to `to` is x reshaped to `dims` and then
// transposed by `permutation` of the answer; nothing where the reshape joins dimensions that are no
// neighbours in x. Sizes are known and not 0.
struct ReshapeFirst {
  Dims dims;
  Permutation permutation;
};
std::optional<ReshapeFirst> reshape_first(const Dims& x, const Permutation& permutation,
                                          const Dims& to);

}  // namespace enginery
