// Attention out of existing operators: what ONNX's Attention and that of ONNX Runtime share.
#pragma once

#include "engine/import/onnx/node_reader.h"

namespace enginery {

// [batch, sequence, heads * size] -> [batch, heads, sequence, size], and back.
ValueId to_heads(NodeReader& node, ValueId x, int64_t heads);
ValueId from_heads(NodeReader& node, ValueId x);

// 0 where `allowed` (boolean), `otherwise` elsewhere, of `type`.
ValueId additive_mask(NodeReader& node, ValueId allowed, double otherwise, DataType type);

// boolean [queries, keys]: query i may look at the keys up to i + offset.
ValueId causal_mask(NodeReader& node, int64_t queries, int64_t keys, int64_t offset);

// What a product of queries and keys goes through.
struct AttentionScores {
  ValueId bias = kNoValue;  // added to the scores; broadcast to [batch, heads, queries, keys]
  bool guards_masked_rows = false;  // rows whose bias is -inf throughout give zeros, not NaN
  double scale = 1;
  float softcap = 0;  // 0: none
  DataType softmax_type = DataType::float32;
};

// All of [batch, heads, ...]: the scores after each of their stages, and the result.
struct AttentionValues {
  ValueId scores, capped, biased, weights, result;
};
AttentionValues attend(NodeReader& node, const AttentionScores& form, ValueId q, ValueId k,
                       ValueId v);

}  // namespace enginery
