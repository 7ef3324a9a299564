// Attention as one operator: softmax(scale * q * k^T + masks) * v, for every image and head.
// Source: Vaswani et al., "Attention is all you need" (2017), section 3.2.1.
//
// Each operand is read out of a tensor that is stored in order, wherever its elements lie, so that
// the reshapes, transpositions, splits and repetitions around an exported attention are part of it.
#pragma once

#include "engine/ops/attributes.h"
#include "engine/ops/operand.h"

namespace enginery {

// Which rows of a result are 0.
enum class ZeroRows {
  none,
  nan,     // whose weights are NaN
  masked,  // in which every score is -infinity
};
// The first two are the words of what was a boolean in older texts and files.
std::span<const std::string_view> enum_names(ZeroRows);

// Inputs: tensors that hold the matrices q [queries, depth], k [keys, depth] and v [keys, width] of
// one floating type, optional addend (of that type) and optional choice (boolean), both [queries,
// keys]. Output: one tensor of `output` that holds the matrices y [queries, width] and nothing
// else.
//
// There is one matrix of each for every index into `batch` (images, heads, heads that share their
// keys; outermost first). Its element at row i and column j lies at places[0] + sum of index[n] *
// places[1 + n] + i * places[end - 2] + j * places[end - 1] of the tensor's elements in order. A
// stride of 0 repeats an element; the output's places are all different.
//
// score = scale * (q k^T); `blank` where `causal` and key j > query i + keys - queries; `blank`
// where choice is `hides`; then plus the addend. y = softmax(score over keys) v. Scores are rounded
// to the type after each of these steps, as the operators that this stands for round them. A row in
// which every score is -infinity is NaN; where all are one finite number every key has the same
// weight. Every key takes part: 0 * NaN of a hidden key's value is NaN, but not in the
// rows that are 0 by `zeros`.
struct Attention {
  static constexpr std::string_view kName = "attention";
  static constexpr bool kMovesElements = false;
  std::vector<int64_t> batch;
  int64_t queries = 1, keys = 1, depth = 1, width = 1;
  std::vector<int64_t> q, k, v, y;
  std::vector<int64_t> output;
  float scale = 1;
  bool causal = false;
  float blank = -__builtin_inff();
  std::vector<int64_t> addend, choice;  // empty without the input
  bool hides = false;                   // the value of choice that hides a key
  ZeroRows zeros = ZeroRows::none;
  template <typename Self, typename V>
  static void fields(Self& s, V&& visit) {
    visit("batch", s.batch);
    visit("queries", s.queries);
    visit("keys", s.keys);
    visit("depth", s.depth);
    visit("width", s.width);
    visit("q", s.q);
    visit("k", s.k);
    visit("v", s.v);
    visit("y", s.y);
    visit("output", s.output);
    visit("scale", s.scale);
    visit("causal", s.causal);
    visit("blank", s.blank);
    visit("addend", s.addend);
    visit("choice", s.choice);
    visit("hides", s.hides);
    visit("nan_is_zero", s.zeros);
  }
};

// The longest depth and width that kernels of every kind of device serve: what passes leave in
// pieces beyond.
inline constexpr int64_t kMaxAttentionDepth = 256;
// The most sizes in `batch` that they serve.
inline constexpr size_t kMaxAttentionBatch = 3;

ENGINERY_OPERATOR(Attention);

}  // namespace enginery
