// AttentionShape: an attention as the kernels of both kinds of device read it: at most three sizes
// over which it repeats, an offset and strides for each operand.
//
// Where: our kernels' families and the tuner's gate. Threads: values and pure functions.
#pragma once

#include <array>

#include "engine/tactics/problem.h"

namespace enginery {

// Where an operand's matrices lie, in elements.
struct AttentionPlaces {
  bool present = false;
  int64_t offset = 0;
  std::array<int64_t, kMaxAttentionBatch> batch{};
  int64_t row = 0, column = 0;

  // Whether every matrix and row begins at a multiple of `elements`, and a row lies side by side.
  bool is_aligned(int64_t elements) const;
};

struct AttentionShape {
  std::array<int64_t, kMaxAttentionBatch> batch{1, 1, 1};  // outermost first
  int64_t queries = 1, keys = 1, depth = 1, width = 1;
  AttentionPlaces q, k, v, y, addend, choice;  // inputs 0 to 2, the output, inputs 3 and 4
  float scale = 1, blank = 0;
  bool causal = false, hides = false;
  ZeroRows zeros = ZeroRows::none;

  int64_t matrices() const { return batch[0] * batch[1] * batch[2]; }
  bool is_masked() const { return causal || addend.present || choice.present; }
};

// Errors: unsupported (another operator, integers, sizes beyond kMaxAttentionBatch and
// kMaxAttentionDepth, constant q, k or v, an epilogue).
Result<AttentionShape> attention_shape(const Problem& problem);

// The attention of fewer images and heads, queries and keys: the operands lie as before, the output
// in the same order without gaps.
Attention smaller_attention(const Attention& op, int64_t most_of_batch, int64_t queries,
                            int64_t keys);

// How many elements of input `i` are read: the last place, and one.
int64_t attention_extent(const Attention& op, size_t input);

}  // namespace enginery
