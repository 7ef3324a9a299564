// Attention and what stands around it. ONNX Attention-24, RotaryEmbedding-23.
#include <cmath>
#include <limits>

#include "engine/import/onnx/onnx_types.h"
#include "engine/import/onnx/operators/attention.h"
#include "engine/import/onnx/operators/read_helpers.h"
#include "engine/import/onnx/operators/readers.h"

namespace enginery {
namespace {

constexpr int64_t kMaxHeads = 65536;
constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

// Queries, keys and values as [batch, heads, sequence, size], keys and values with the past ones.
struct AttentionInputs {
  ValueId q, k, v;
  bool has_heads = true;  // the node's own inputs have them
};

ValueId with_past(NodeReader& node, ValueId past, ValueId x) {
  return past == kNoValue ? x : node.add(Concat{2}, {past, x});
}

AttentionInputs read_attention_inputs(NodeReader& node) {
  AttentionInputs in{node.input(0), node.input(1), node.input(2)};
  in.has_heads = node.rank(in.q) == 4;
  const int64_t q_heads = node.integer("q_num_heads", 0),
                kv_heads = node.integer("kv_num_heads", 0);
  if (!in.has_heads) {
    in.q = to_heads(node, in.q, q_heads);
    in.k = to_heads(node, in.k, kv_heads);
    in.v = to_heads(node, in.v, kv_heads);
  }
  in.k = with_past(node, node.optional_input(4), in.k);
  in.v = with_past(node, node.optional_input(5), in.v);
  return in;
}

// Each head of keys or values as often as queries share it.
ValueId repeat_heads(NodeReader& node, ValueId x, int64_t heads) {
  const int64_t own = node.size(x, 1, "the number of heads");
  if (!node.ok() || own == heads) return x;
  if (own < 1 || heads % own != 0 || heads > kMaxHeads) {
    node.reject("the heads of the queries are too many, or no multiple of those of the keys");
    return x;
  }
  // As exporters repeat them, so that an attention reads each where it lies.
  const int64_t size = node.size(x, 3, "the size of a head");
  const ValueId apart = node.add(Unsqueeze{}, {x, node.ints_constant({2})});
  const ValueId repeated =
      node.add(Expand{}, {apart, node.ints_constant({1, 1, heads / own, 1, 1})});
  return node.add(Reshape{}, {repeated, node.ints_constant({0, heads, -1, size})});
}

// Input 3 as a number to add, with the keys that it leaves out masked.
ValueId read_attention_mask(NodeReader& node, DataType type, int64_t keys) {
  ValueId mask = node.optional_input(3);
  if (mask == kNoValue || !node.ok()) return mask;
  if (node.type(mask) == DataType::boolean) mask = additive_mask(node, mask, kMinusInfinity, type);
  const int64_t given = node.dims(mask).empty() ? keys : node.dims(mask).back();
  if (given < 0 || given == 1 || given >= keys) return mask;
  return node.add(Pad{}, {mask, node.ints_constant({0, keys - given}),
                          node.number_constant(kMinusInfinity, type), node.ints_constant({-1})});
}

ValueId add_bias(NodeReader& node, ValueId a, ValueId b) {
  if (a == kNoValue || b == kNoValue) return a == kNoValue ? b : a;
  return node.add(Binary{BinaryKind::add}, {a, b});
}

// The mask, and what causality and the keys' number in each picture of the batch forbid.
ValueId read_attention_bias(NodeReader& node, const AttentionInputs& in) {
  const DataType type = node.type(in.q);
  const bool is_causal = node.integer("is_causal", 0) != 0;
  const ValueId lengths = as_int64(node, node.optional_input(6));
  if (!is_causal && lengths == kNoValue && !node.has_input(3)) return kNoValue;
  const int64_t queries = node.size(in.q, 2, "the number of queries"),
                keys = node.size(in.k, 2, "the number of keys");
  ValueId bias = read_attention_mask(node, type, keys);
  const auto forbid_others = [&](ValueId allowed) {
    bias = add_bias(node, bias, additive_mask(node, allowed, kMinusInfinity, type));
  };
  if (lengths == kNoValue) {
    const ValueId past = node.optional_input(4);
    const int64_t offset = past == kNoValue ? 0 : node.size(past, 2, "the number of past keys");
    if (is_causal) forbid_others(causal_mask(node, queries, keys, offset));
    return bias;
  }
  const ValueId each = node.add(Reshape{}, {lengths, node.ints_constant({-1, 1, 1, 1})});
  const ValueId j = counting(node, keys);
  forbid_others(node.add(Binary{BinaryKind::less}, {j, each}));
  if (is_causal) {
    const ValueId i = node.add(Reshape{}, {counting(node, queries), node.ints_constant({-1, 1})});
    const ValueId ahead = node.add(Binary{BinaryKind::sub}, {j, i});
    const ValueId most = node.add(Binary{BinaryKind::sub}, {each, node.ints_constant({queries})});
    forbid_others(node.add(Binary{BinaryKind::less_equal}, {ahead, most}));
  }
  return bias;
}

AttentionScores read_attention_form(NodeReader& node, const AttentionInputs& in) {
  AttentionScores form;
  form.softmax_type = node.type(in.q);
  if (node.has("softmax_precision")) {
    const auto type = onnx_type(node.integer("softmax_precision", 1));
    if (!type || !is_floating(*type))
      node.reject("attribute softmax_precision is no floating type");
    if (type.ok()) form.softmax_type = *type;
  }
  const int64_t size = node.size(in.q, 3, "the size of a head");
  form.scale = 1 / std::sqrt(static_cast<double>(std::max<int64_t>(size, 1)));
  if (node.has("scale")) form.scale = static_cast<double>(node.real("scale", 0));
  if (form.scale < 0) node.refuse("a negative scale is not supported");
  form.softcap = node.real("softcap", 0);
  form.bias = read_attention_bias(node, in);
  form.guards_masked_rows = node.has_input(3) || node.has_input(6);
  return form;
}

void read_attention(NodeReader& node) {
  const AttentionInputs in = read_attention_inputs(node);
  const int64_t heads = node.size(in.q, 1, "the number of heads");
  const AttentionScores form = read_attention_form(node, in);
  const int64_t mode = node.integer("qk_matmul_output_mode", 0);
  const AttentionValues out =
      attend(node, form, in.q, repeat_heads(node, in.k, heads), repeat_heads(node, in.v, heads));
  node.result(in.has_heads ? out.result : from_heads(node, out.result), 0);
  node.result(in.k, 1);
  node.result(in.v, 2);
  const ValueId stages[] = {out.scores, out.capped, out.biased, out.weights};
  if (mode < 0 || mode > 3) return node.reject("attribute qk_matmul_output_mode is out of range");
  node.result(stages[mode], 3);
}

// x [..., from, to) of the last dimension.
ValueId last_slice(NodeReader& node, ValueId x, int64_t from, int64_t to, int64_t step = 1) {
  return node.add(Slice{}, {x, node.ints_constant({from}), node.ints_constant({to}),
                            node.ints_constant({node.rank(x) - 1}), node.ints_constant({step})});
}

// Pairs of elements of x [batch, sequence, heads, size], turned by cosine and sine.
ValueId rotate(NodeReader& node, ValueId x, ValueId cosine, ValueId sine, bool interleaved) {
  const int64_t size = node.size(x, 3, "the size of a head"), half = size / 2;
  const ValueId a = interleaved ? last_slice(node, x, 0, size, 2) : last_slice(node, x, 0, half);
  const ValueId b = interleaved ? last_slice(node, x, 1, size, 2) : last_slice(node, x, half, size);
  const auto product = [&](ValueId u, ValueId v) {
    return node.add(Binary{BinaryKind::mul}, {u, v});
  };
  ValueId real = node.add(Binary{BinaryKind::sub}, {product(cosine, a), product(sine, b)});
  ValueId imaginary = node.add(Binary{BinaryKind::add}, {product(sine, a), product(cosine, b)});
  if (!interleaved) return node.add(Concat{3}, {real, imaginary});
  real = node.add(Unsqueeze{}, {real, node.ints_constant({4})});
  imaginary = node.add(Unsqueeze{}, {imaginary, node.ints_constant({4})});
  return node.add(Reshape{},
                  {node.add(Concat{4}, {real, imaginary}), node.ints_constant({0, 0, 0, size})});
}

// A cache's rows for the positions, as [batch, sequence, 1, size / 2].
ValueId rotation_rows(NodeReader& node, ValueId cache, ValueId positions) {
  if (positions != kNoValue) cache = node.add(Gather{0}, {cache, positions});
  return node.add(Unsqueeze{}, {cache, node.ints_constant({2})});
}

void read_rotary_embedding(NodeReader& node) {
  const ValueId x = node.input(0), positions = as_int64(node, node.optional_input(3));
  const bool has_heads = node.rank(x) == 4;
  const int64_t heads = node.integer("num_heads", 0);
  const ValueId turned = has_heads
                             ? node.add(Transpose{{0, 2, 1, 3}}, {x})
                             : node.add(Reshape{}, {x, node.ints_constant({0, 0, heads, -1})});
  const int64_t size = node.size(turned, 3, "the size of a head");
  int64_t rotated = node.integer("rotary_embedding_dim", 0);
  if (rotated == 0) rotated = size;
  if (rotated < 2 || rotated > size || rotated % 2 != 0)
    return node.reject("attribute rotary_embedding_dim does not fit a head of " +
                       std::to_string(size));
  const ValueId cosine = rotation_rows(node, node.input(1), positions),
                sine = rotation_rows(node, node.input(2), positions);
  const bool interleaved = node.integer("interleaved", 0) != 0;
  ValueId y = rotate(node, last_slice(node, turned, 0, rotated), cosine, sine, interleaved);
  if (rotated < size) y = node.add(Concat{3}, {y, last_slice(node, turned, rotated, size)});
  if (has_heads) return node.result(Transpose{{0, 2, 1, 3}}, {y});
  node.result(Reshape{}, {y, node.ints_constant({0, 0, -1})});
}

constexpr OperatorReader kAttentionReaders[] = {
    {"Attention", read_attention},
    {"RotaryEmbedding", read_rotary_embedding},
};

}  // namespace

std::span<const OperatorReader> attention_readers() {
  return kAttentionReaders;
}

}  // namespace enginery
