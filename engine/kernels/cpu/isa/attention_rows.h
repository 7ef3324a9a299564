// What the attentions of every element type have in common: where a matrix lies, and what masks and
// softmax make of a row of scores in float32.
#pragma once

#include "engine/kernels/cpu/isa/attention.h"
#include "engine/kernels/cpu/isa/simd.h"

namespace enginery {
namespace {

struct MatrixIndex {
  int64_t of[3];
};
inline MatrixIndex matrix_index(const AttentionForm& a, int64_t matrix) {
  return {
      {matrix / a.batch[2] / a.batch[1], matrix / a.batch[2] % a.batch[1], matrix % a.batch[2]}};
}
inline int64_t place_of(const AttentionPlace& p, const MatrixIndex& index) {
  return index.of[0] * p.batch[0] + index.of[1] * p.batch[1] + index.of[2] * p.batch[2];
}

// The queries of every matrix in blocks of at most `most`, as even as they can be. A task is a
// block: task i is block i % blocks of matrix i / blocks.
struct QueryBlocks {
  int64_t tasks, blocks, each;
};
inline QueryBlocks query_blocks(const AttentionForm& a, int64_t most) {
  const int64_t blocks = (a.queries + most - 1) / most;
  return {a.batch[0] * a.batch[1] * a.batch[2] * blocks, blocks, (a.queries + blocks - 1) / blocks};
}

// Multiplications and additions of both products.
inline double attention_work(const AttentionForm& a) {
  const int64_t matrices = a.batch[0] * a.batch[1] * a.batch[2];
  return static_cast<double>(matrices * a.queries) *
         static_cast<double>(a.keys * (a.depth + a.width));
}

// Whether a row whose weights add up to `sum` is 0. Scores of -infinity alone add up to 0.
inline bool is_blank_row(const AttentionForm& a, float sum) {
  return a.nan_is_zero ? !(sum > 0) : a.masked_is_zero && sum == 0;
}

// The masks of one matrix.
struct AttentionMasks {
  const float* addend;
  const uint8_t* choice;
};
inline AttentionMasks masks_of(const AttentionForm& a, const MatrixIndex& index) {
  return {a.addend ? a.addend + place_of(a.addend_place, index) : nullptr,
          a.choice ? a.choice + place_of(a.choice_place, index) : nullptr};
}

// What masks make of the scores of query i with keys [first, first + keys).
inline void mask_row(const AttentionForm& a, const AttentionMasks& t, int64_t i, int64_t first,
                     int64_t keys, float* s) {
  if (a.causal) {
    const int64_t seen = most(0, least(keys, i + a.keys - a.queries - first + 1));
    for (int64_t j = seen; j < keys; ++j) s[j] = a.blank;
  }
  if (t.choice) {
    const uint8_t* choice = t.choice + i * a.choice_place.row + first * a.choice_place.column;
    for (int64_t j = 0; j < keys; ++j)
      s[j] = (choice[j * a.choice_place.column] != 0) == a.hides ? a.blank : s[j];
  }
  if (t.addend) {
    const float* addend = t.addend + i * a.addend_place.row + first * a.addend_place.column;
    for (int64_t j = 0; j < keys; ++j) s[j] += addend[j * a.addend_place.column];
  }
}

// Scores become weights; what was summed before is measured by the new largest score.
inline void weigh_row(float* __restrict s, int64_t keys, float* __restrict y, int64_t width,
                      float& largest, float& sum) {
  float peak = largest, part = 0;
#pragma omp simd reduction(max : peak)
  for (int64_t j = 0; j < keys; ++j) peak = s[j] > peak ? s[j] : peak;
  // A row may have no finite score so far. NaN and differences of infinities are NaN in the sum.
  const float measure = peak == -__builtin_inff() ? 0.0f : peak;
  const float factor = fast_exp_or_zero(largest - measure);
#pragma omp simd reduction(+ : part)
  for (int64_t j = 0; j < keys; ++j) {
    const float e = fast_exp_or_zero(s[j] - measure);
    s[j] = e;
    part += e;
  }
  largest = peak;
  sum = sum * factor + part;
  if (factor == 1.0f) return;
#pragma omp simd
  for (int64_t c = 0; c < width; ++c) y[c] *= factor;
}

}  // namespace
}  // namespace enginery
