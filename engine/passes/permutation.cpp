#include "engine/passes/permutation.h"

#include <algorithm>
#include <numeric>

namespace enginery {
namespace {

// Dimensions [first, last) of the transposed tensor, which become [to_first, to_last).
struct Block {
  size_t first, last, to_first, to_last;
};

// The shortest blocks of equal volume, in order; dimensions of size 1 behind the last belong to it.
std::vector<Block> blocks_of(const Dims& from, const Dims& to) {
  std::vector<Block> out;
  size_t i = 0, j = 0;
  while (i < from.size() && j < to.size()) {
    Block block{i, i + 1, j, j + 1};
    int64_t mine = from[i++], other = to[j++];
    while (mine != other) {
      if (mine < other)
        mine *= from[i++];
      else
        other *= to[j++];
    }
    block.last = i;
    block.to_last = j;
    out.push_back(block);
  }
  if (!out.empty()) {
    out.back().last = from.size();
    out.back().to_last = to.size();
  }
  return out;
}

bool are_neighbours(const Permutation& p, size_t first, size_t last) {
  for (size_t i = first + 1; i < last; ++i)
    if (p[i] != p[i - 1] + 1) return false;
  return true;
}

}  // namespace

Permutation written_out(const Permutation& of, size_t rank) {
  if (!of.empty()) return of;
  Permutation out(rank);
  std::iota(out.rbegin(), out.rend(), 0);
  return out;
}

Dims permuted(const Dims& dims, const Permutation& by) {
  Dims out;
  for (const int64_t from : by) out.push_back(dims[static_cast<size_t>(from)]);
  return out;
}

Permutation one_after_other(const Permutation& first, const Permutation& second) {
  Permutation out;
  for (const int64_t from : second) out.push_back(first[static_cast<size_t>(from)]);
  return out;
}

Permutation inverse(const Permutation& of) {
  Permutation out(of.size());
  for (size_t i = 0; i < of.size(); ++i) out[static_cast<size_t>(of[i])] = static_cast<int64_t>(i);
  return out;
}

Result<Tensor> transposed(const Tensor& constant, const Permutation& by) {
  Tensor out(constant.type(), permuted(constant.dims(), by));
  const std::vector<const Tensor*> inputs{&constant};
  CHECK_OK(reference(Transpose{by}, inputs, std::span(&out, 1)));
  return out;
}

std::optional<ReshapeFirst> reshape_first(const Dims& x, const Permutation& permutation,
                                          const Dims& to) {
  std::vector<Block> blocks = blocks_of(permuted(x, permutation), to);
  if (blocks.empty()) return std::nullopt;
  for (const Block& b : blocks)
    if (!are_neighbours(permutation, b.first, b.last)) return std::nullopt;
  std::ranges::sort(blocks, {}, [&](const Block& b) { return permutation[b.first]; });
  ReshapeFirst out;
  out.permutation.resize(to.size());
  for (const Block& b : blocks) {
    for (size_t d = b.to_first; d < b.to_last; ++d) {
      out.permutation[d] = std::ssize(out.dims);
      out.dims.push_back(to[d]);
    }
  }
  return out;
}

}  // namespace enginery
