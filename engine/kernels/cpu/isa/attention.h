// Attention without its scores in memory.
//
// Filled by engine/tactics/cpu/kernel/attention.cpp, which knows the problem; the kernel checks
// nothing.
#pragma once

#include <cstdint>

namespace enginery {

// Where an operand's matrices lie, in elements: index (i0, i1, i2) at the sum of i * batch[i].
struct AttentionPlace {
  int64_t batch[3];
  int64_t row, column;
};

// y = softmax(scale * q k^T + masks) v for each of batch[0] * batch[1] * batch[2] matrices. A key j
// of query i is `blank` where `causal` and j > i + keys - queries, and where choice is `hides`;
// then the addend is added. Where `nan_is_zero`, a row whose weights are NaN is 0; where
// `masked_is_zero`, one in which every score is -infinity. `depth` and
// `width` are at most kMaxAttentionDepth.
struct AttentionForm {
  const float* addend;    // null: none
  const uint8_t* choice;  // null: none
  AttentionPlace q_place, k_place, v_place, y_place, addend_place, choice_place;
  int64_t batch[3];
  int64_t queries, keys, depth, width;
  float scale, blank;
  bool causal, hides, nan_is_zero, masked_is_zero;
};

// `y` is a storage of its own.
struct AttentionArguments : AttentionForm {
  const float *q, *k, *v;
  float* y;
};

}  // namespace enginery
